//! The formats of a report.
//!
//! A format that is written to a file has a module, an option in [`ReportFiles`], and a line in its list.

mod github;
mod human;
mod json;
mod junit;
mod markdown;
mod phrases;

use std::path::{Path, PathBuf};

use eval_core::__private::mask;

use crate::files::replace;
use crate::output::CommandError;
use crate::recorded::RunResults;

pub(super) use github::annotations as github;
pub(super) use human::text as human;
pub(super) use json::text as json;

/// The files to write reports to.
#[derive(Debug, clap::Args)]
pub(super) struct ReportFiles {
    /// Writes a JUnit report to this file. `-` prints it instead of the usual output.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Writes the report as JSON to this file. `-` prints it instead of the usual output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Writes a summary for a pull request to this file. `-` prints it instead of the usual output.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// A report as text.
type Render = fn(&RunResults<'_>) -> Result<String, CommandError>;

impl ReportFiles {
    fn list(&self) -> [(Option<&Path>, Render); 3] {
        [
            (self.junit.as_deref(), junit::text),
            (self.json.as_deref(), json::text),
            (self.markdown.as_deref(), |results| Ok(markdown::text(results))),
        ]
    }

    /// Whether a file tells the scores of each run.
    pub(super) fn take_all(&self) -> bool {
        self.junit.is_some() || self.json.is_some()
    }

    /// Writes the files. Returns the report for standard output, if one is to go there.
    pub(super) fn write(&self, results: &RunResults<'_>) -> Result<Option<String>, CommandError> {
        let mut printed = None;
        for (path, render) in self.list() {
            let Some(path) = path else { continue };
            let text = render(results)?;
            if path.as_os_str() != STANDARD_OUTPUT {
                write(path, &text)?;
            } else if printed.replace(text).is_some() {
                return Err(two_on_standard_output());
            }
        }
        Ok(printed)
    }
}

/// The name of standard output in place of a file.
const STANDARD_OUTPUT: &str = "-";

/// The error for two reports that would be mixed.
pub(super) fn two_on_standard_output() -> CommandError {
    CommandError::new(
        format!("only one report can go to standard output (`{STANDARD_OUTPUT}`)"),
        "name a file for each other report",
    )
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    replace(path, &mask(text)).map_err(|error| {
        CommandError::new(
            format!("cannot write `{}`: {error}", path.display()),
            "name a file in an existing folder",
        )
    })
}
