//! Why a command could not do what it was asked for.

use super::foreign::{self, one_line};
use super::outcome::Outcome;
use super::style::{ERROR, styled};

/// Why a command could not do what it was asked for, or could not do it for one path. The exit code is 2.
#[derive(Clone, Debug)]
pub(crate) struct CommandError {
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) help: String,
}

/// What went wrong and what helps, in one line without colours.
#[cfg(feature = "serve")]
impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

#[cfg(feature = "serve")]
impl std::error::Error for CommandError {}

impl CommandError {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    /// The error as a JSON document.
    pub(crate) fn document(&self, command: Option<&str>) -> String {
        let error = serde_json::json!({ "message": self.message, "help": self.help });
        let document =
            serde_json::json!({ "command": command, "outcome": Outcome::Unmeasurable, "error": error });
        foreign::json(&format!("{document:#}")) + "\n"
    }

    /// The error as cargo prints its own errors.
    pub(crate) fn shown(&self) -> String {
        let level = styled(ERROR, "error");
        format!("{level}: {}\n  = help: {}\n", one_line(&self.message), one_line(&self.help))
    }
}
