//! Whether a job of continuous integration runs the command.

/// A job may have a terminal, but no user at it.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false" && ci != "0")
}
