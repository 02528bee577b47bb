//! The result of a migration.

use std::path::Path;

use eval_format::Problem;
use eval_format::reader::{CheckedSession, CheckedSet};

use serde::Serialize;

use crate::files::FoundProblems;
use crate::output::Outcome;

/// The result of a migration. Fields may be added to its JSON; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Migration {
    /// The new file; `None` if an old file has errors.
    pub(super) written: Option<String>,
    pub(super) cases: usize,
    /// The old files with what was found in them: errors, or what the new file cannot hold.
    pub(super) files: Vec<OldFile>,
    /// A session file beside the old file that was not named on the command line.
    #[serde(skip)]
    pub(super) unread_session: Option<String>,
}

/// An old file, and what was found in it.
#[derive(Debug, Serialize)]
pub(super) struct OldFile {
    /// Its path, as messages show it.
    #[serde(rename = "file")]
    pub(super) shown: String,
    #[serde(rename = "problems")]
    pub(super) found: FoundProblems,
}

/// A session file: its path as messages show it, and what was found in it.
type Session = (String, CheckedSession);

impl OldFile {
    fn new(shown: String, text: String, problems: Vec<Problem>) -> Self {
        Self { shown, found: FoundProblems { text, problems } }
    }
}

impl Migration {
    /// Nothing was written, since a file has errors.
    pub(super) fn refused(checked: CheckedSet, session: Option<Session>) -> Self {
        let set = OldFile::new(checked.file, checked.text, checked.problems);
        let session = session.map(|(shown, session)| OldFile::new(shown, session.text, session.problems));
        let files = [Some(set), session].into_iter().flatten().collect();
        Self { written: None, cases: 0, files, unread_session: None }
    }

    /// The new file was written.
    pub(super) fn written(
        path: &Path,
        cases: usize,
        checked: CheckedSet,
        session: Option<Session>,
        unread_session: Option<String>,
    ) -> Self {
        let problems = checked.unwritten();
        let set = OldFile::new(checked.file, checked.text, problems);
        let session = session.map(|(shown, session)| {
            let problems = session.unwritten();
            OldFile::new(shown, session.text, problems)
        });
        let mut files: Vec<OldFile> = [Some(set), session].into_iter().flatten().collect();
        files.retain(|file| !file.found.problems.is_empty());
        Self { written: Some(path.display().to_string()), cases, files, unread_session }
    }

    pub(super) fn outcome(&self) -> Outcome {
        if self.written.is_some() { Outcome::Passed } else { Outcome::Failed }
    }
}
