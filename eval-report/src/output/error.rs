//! Why a command could not do what it was asked for.

use std::path::Path;
use std::{fs, io};

use eval_support::file::{Unfit, read_file};
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

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    read_file(path).map_err(|error| match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(unfit) => refused(path, *unfit),
        None => unreadable(path, &error),
    })
}

fn refused(path: &Path, unfit: Unfit) -> CommandError {
    let message = unfit.to_string();
    let help = match unfit {
        Unfit::NoFile => "name a file or a folder",
        Unfit::TooLarge => "split it: no tool that reads eval sets reads one of that size",
    };
    CommandError::new(format!("`{}` {}", path.display(), message.trim_start_matches("it ")), help)
}

/// Why a file cannot be read. A link whose target does not exist is an error of its own.
pub fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    let shown = path.display();
    match fs::read_link(path) {
        Ok(target) if error.kind() == io::ErrorKind::NotFound => CommandError::new(
            format!("`{shown}` is a link to `{}`, which does not exist", target.display()),
            "restore the target, or remove the link",
        ),
        _ => CommandError::new(
            format!("cannot read `{shown}`: {error}"),
            "give this user permission to read it, or leave it out",
        ),
    }
}
