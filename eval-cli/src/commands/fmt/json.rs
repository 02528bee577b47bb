//! The results as JSON.

use serde::Serialize;

use super::file::{FileState, FormattedFile};
use super::results::FmtResults;
use crate::files::{ProblemEntry, entries};
use crate::output::{CommandError, Outcome};

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Document<'r> {
    command: &'static str,
    outcome: Outcome,
    files: Vec<Entry<'r>>,
}

#[derive(Debug, Serialize)]
struct Entry<'r> {
    /// `None` for a path that stands for no file.
    file: Option<&'r str>,
    state: &'static str,
    problems: Vec<ProblemEntry>,
    message: Option<&'r str>,
    help: Option<&'r str>,
}

impl<'r> Document<'r> {
    pub(super) fn of(results: &'r FmtResults) -> Self {
        let paths = results.errors.iter().map(Entry::of_path);
        Self {
            command: "fmt",
            outcome: results.outcome(),
            files: results.files.iter().map(Entry::of_file).chain(paths).collect(),
        }
    }
}

impl<'r> Entry<'r> {
    fn of_file(file: &'r FormattedFile) -> Self {
        let error = file.state.error();
        Self {
            file: Some(&file.shown),
            state: file.state.name(),
            problems: match &file.state {
                FileState::Kept { text, problems } => entries(text, problems),
                _ => Vec::new(),
            },
            message: error.map(|error| error.message.as_str()),
            help: error.map(|error| error.help.as_str()),
        }
    }

    fn of_path(error: &'r CommandError) -> Self {
        Self {
            file: None,
            state: "unmeasurable",
            problems: Vec::new(),
            message: Some(&error.message),
            help: Some(&error.help),
        }
    }
}
