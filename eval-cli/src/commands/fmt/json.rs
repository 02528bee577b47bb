//! The results as JSON.

use serde::Serialize;

use super::file::FileState;
use super::results::FmtResults;
use crate::files::FoundProblems;

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Files<'r> {
    files: Vec<Entry<'r>>,
}

#[derive(Debug, Serialize)]
struct Entry<'r> {
    /// `None` for a path that stands for no file.
    file: Option<&'r str>,
    state: &'static str,
    problems: &'r FoundProblems,
    message: Option<&'r str>,
    help: Option<&'r str>,
}

/// The problems of a file that has none.
static NONE: FoundProblems = FoundProblems { text: String::new(), problems: Vec::new() };

impl<'r> Files<'r> {
    pub(super) fn of(results: &'r FmtResults) -> Self {
        let files = results.files.iter().map(|file| {
            let problems = if let FileState::Kept(found) = &file.state { found } else { &NONE };
            (Some(file.shown.as_str()), file.state.name(), problems, file.state.error())
        });
        let paths = results.errors.iter().map(|error| (None, "unmeasurable", &NONE, Some(error)));
        let entries = files.chain(paths).map(|(file, state, problems, error)| {
            let (message, help) = error.map(|error| (error.message.as_str(), error.help.as_str())).unzip();
            Entry { file, state, problems, message, help }
        });
        Self { files: entries.collect() }
    }
}
