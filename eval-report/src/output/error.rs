//! Why a command could not do what it was asked for.

use eval_support::untrusted::{self, lines_below, one_line};
use serde::Serialize;

use super::outcome::Outcome;
use super::style::{ERROR, styled};

/// Why a command could not do what it was asked for, or could not do it for one path. The exit code is 2.
#[derive(Clone, Debug, Serialize)]
pub struct CommandError {
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// What went wrong and what helps, in one line without colours.
impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}
impl std::error::Error for CommandError {}

impl CommandError {
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    /// The error as a JSON document.
    pub fn document(&self, command: Option<&str>) -> String {
        let document =
            serde_json::json!({ "command": command, "outcome": Outcome::Unmeasurable, "error": self });
        untrusted::json(&format!("{document:#}")) + "\n"
    }

    /// The error as cargo prints its own errors. What others wrote stands below the first line, with its mark.
    pub fn shown(&self) -> String {
        let level = styled(ERROR, "error");
        format!("{level}: {}\n  = help: {}\n", lines_below(&self.message, 2), one_line(&self.help))
    }
}
