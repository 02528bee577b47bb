//! Output of commands, and their exit codes.

use std::path::PathBuf;

use clap::ValueEnum;
#[cfg(feature = "serve")]
pub(crate) use eval_report::output::time;
pub(crate) use eval_report::output::{
    BOLD, CaseOfFile, CommandError, ERROR, GOOD, Outcome, WARNING, json_document, read, rerun_command,
    styled, tell, unreadable, width,
};
pub(crate) use eval_support::secrets::{hide, mask};
use serde::Serialize;

/// The runtime of a command that waits for something.
pub(crate) fn runtime(awaited: &str) -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        let message = format!("cannot start the runtime that waits for {awaited}: {error}");
        CommandError::new(message, "raise this user's limit of open files")
    })
}

/// The output of a command on standard output, and the exit code of the program.
#[derive(Debug)]
pub(crate) struct Answer {
    /// May contain styles, which are removed if standard output is not a terminal. Commands of a CI service
    /// in it are escaped when it is printed.
    pub(crate) text: String,
    /// Commands for a CI service, printed after the text.
    pub(crate) annotations: String,
    /// A page that is opened in the browser once all is printed.
    pub(crate) opens: Option<PathBuf>,
    /// An error beside the output, which decides the exit code. The text is printed all the same.
    pub(crate) failed: Option<CommandError>,
    /// The exit code of an [`Outcome`], or of a program that the command ran.
    pub(crate) exit_code: i32,
}

impl Answer {
    pub(crate) fn new(outcome: Outcome, text: String) -> Self {
        Self { text, annotations: String::new(), opens: None, failed: None, exit_code: outcome.exit_code() }
    }

    /// Adds commands of a CI service.
    pub(crate) fn with_annotations(self, annotations: String) -> Self {
        Self { annotations, ..self }
    }

    /// Opens a page once all is printed.
    pub(crate) fn and_opens(self, page: Option<PathBuf>) -> Self {
        Self { opens: page, ..self }
    }

    /// Adds an error beside the output.
    pub(crate) fn and_failed(self, failed: Option<CommandError>) -> Self {
        Self { failed, ..self }
    }

    /// An answer for programs: the command, its outcome, and the fields of its results.
    pub(crate) fn results(
        command: &str,
        outcome: Outcome,
        results: &impl Serialize,
    ) -> Result<Self, CommandError> {
        #[derive(Serialize)]
        struct Document<'r, R> {
            command: &'r str,
            outcome: Outcome,
            #[serde(flatten)]
            results: &'r R,
        }
        Self::json(outcome, &Document { command, outcome, results })
    }

    /// An answer for programs: one JSON document.
    pub(crate) fn json(outcome: Outcome, document: &impl Serialize) -> Result<Self, CommandError> {
        Ok(Self::new(outcome, json_document(document)?))
    }
}

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people.
    #[default]
    Human,
    /// One JSON document for programs; eval-cli/README.md describes its fields.
    Json,
}
