//! The result as JSON.

use serde::Serialize;

use super::migration::{Migration, OldFile};
use crate::files::{ProblemEntry, entries};
use crate::output::Outcome;

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    command: &'static str,
    outcome: Outcome,
    /// The new file; `None` if an old file has errors.
    written: Option<String>,
    cases: usize,
    /// The files with errors, or with content that the new file cannot hold.
    files: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    file: String,
    problems: Vec<ProblemEntry>,
}

impl Document {
    pub(super) fn of(migration: &Migration) -> Self {
        let written = migration.written.as_ref();
        Self {
            command: "migrate",
            outcome: migration.outcome(),
            written: written.map(|written| written.path.display().to_string()),
            cases: written.map(|written| written.cases).unwrap_or_default(),
            files: migration.files.iter().map(Entry::of).collect(),
        }
    }
}

impl Entry {
    fn of(file: &OldFile) -> Self {
        Self { file: file.shown.clone(), problems: entries(&file.text, &file.problems) }
    }
}
