//! Commands that CI services take from the log of a job.
//!
//! - GitHub Actions: a line that begins with `::name::` or `::name key=value::`, spaces before it aside; `##[name]`
//!   anywhere in a line.
//! - Azure Pipelines: `##vso[..]` anywhere in a line, `##[name]`.
//! - `TeamCity`: `##teamcity[..]`.
//!
//! GitLab, Travis and Buildkite need control characters, or a mark in the first column.

/// How a number sign is spelt out.
pub(super) const NUMBER_SIGN: &str = "\\u{23}";
/// How a colon is spelt out.
pub(super) const COLON: &str = "\\u{3a}";

/// Whether a number sign would begin a command: the second of `##[`, `##vso[`, `##teamcity[`. `before` is what is printed
/// before it, and `after` what follows it.
pub(super) fn begins_a_command(before: &str, after: &str) -> bool {
    before.ends_with('#')
        && after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "-_.".contains(c)).starts_with('[')
}

/// Whether a line would be a command because of how it begins.
pub(super) fn is_command_line(line: &str) -> bool {
    line.trim_start().starts_with("::")
}
