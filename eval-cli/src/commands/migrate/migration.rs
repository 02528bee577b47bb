//! The result of a migration.

use std::path::{Path, PathBuf};

use eval_format::Problem;
use eval_format::reader::{CheckedSession, CheckedSet};

use crate::output::Outcome;

/// The result of a migration.
#[derive(Debug)]
pub(super) struct Migration {
    /// The new file; `None` if an old file has errors.
    pub(super) written: Option<Written>,
    /// The old files with what was found in them: errors, or what the new file cannot hold.
    pub(super) files: Vec<OldFile>,
    /// A session file beside the old file that was not named on the command line.
    pub(super) unread_session: Option<String>,
}

/// The new file.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) path: PathBuf,
    pub(super) cases: usize,
}

/// An old file, and what was found in it.
#[derive(Debug)]
pub(super) struct OldFile {
    /// Its path, as messages show it.
    pub(super) shown: String,
    /// The text that the problems point into.
    pub(super) text: String,
    pub(super) problems: Vec<Problem>,
}

/// A session file: its path as messages show it, and what was found in it.
type Session = (String, CheckedSession);

impl Migration {
    /// Nothing was written, since a file has errors.
    pub(super) fn refused(checked: CheckedSet, session: Option<Session>) -> Self {
        let mut files = vec![OldFile { shown: checked.file, text: checked.text, problems: checked.problems }];
        files.extend(session.map(|(shown, session)| OldFile {
            shown,
            text: session.text,
            problems: session.problems,
        }));
        Self { written: None, files, unread_session: None }
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
        let set = OldFile { shown: checked.file, text: checked.text, problems };
        let session = session.map(|(shown, session)| {
            let problems = session.unwritten();
            OldFile { shown, text: session.text, problems }
        });
        let mut files: Vec<OldFile> = [Some(set), session].into_iter().flatten().collect();
        files.retain(|file| !file.problems.is_empty());
        Self { written: Some(Written { path: path.to_owned(), cases }), files, unread_session }
    }

    pub(super) fn outcome(&self) -> Outcome {
        if self.written.is_some() { Outcome::Passed } else { Outcome::Failed }
    }
}
