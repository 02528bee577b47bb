//! Output of commands, and their exit codes.

use std::path::PathBuf;

use clap::ValueEnum;
#[cfg(feature = "serve")]
pub(crate) use eval_report::output::time;
pub(crate) use eval_report::output::{
    BOLD, CaseOfFile, CommandError, ERROR, GOOD, Outcome, WARNING, json_document, read, rerun_command,
    styled, tell, unreadable, width, with_option,
};
pub(crate) use eval_support::secrets::{hide, mask};
use eval_support::untrusted;
use serde::Serialize;

pub(crate) fn runtime(awaited: &str) -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        let message = format!("cannot start the runtime that waits for {awaited}: {error}");
        CommandError::new(message, "raise this user's limit of open files")
    })
}

/// Prints a line on standard error at once, since the next step may take long.
pub(crate) fn notice(text: &str) {
    tell(&format!("{}\n", untrusted::one_line(text)));
}

#[derive(Debug)]
pub(crate) struct Answer {
    /// May contain styles, which are removed if standard output is not a terminal. Commands of a CI service
    /// in it are escaped when it is printed.
    pub(crate) text: String,
    pub(crate) annotations: String,
    pub(crate) opens: Option<PathBuf>,
    /// An error beside the output, which decides the exit code. The text is printed anyway.
    pub(crate) failed: Option<CommandError>,
    /// The exit code of an [`Outcome`], or of a program that the command ran.
    pub(crate) exit_code: i32,
}

impl Answer {
    pub(crate) fn new(outcome: Outcome, text: String) -> Self {
        Self { text, annotations: String::new(), opens: None, failed: None, exit_code: outcome.exit_code() }
    }

    /// An error in place of the output, also as an annotation for GitHub: otherwise the page of the job says no more than the
    /// exit code.
    pub(crate) fn annotated(error: CommandError) -> Self {
        let title = [("title", "evals are not measurable")];
        let said = format!("{}\nhelp: {}", error.message, error.help);
        let annotations = untrusted::annotation("error", &title, &said);
        Self { annotations, failed: Some(error), ..Self::new(Outcome::Unmeasurable, String::new()) }
    }

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
