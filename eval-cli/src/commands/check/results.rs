//! The results for all files.

use serde::Serialize;

use super::file::CheckedFile;
use crate::output::{CommandError, Outcome};

/// The results for all files.
#[derive(Debug)]
pub(super) struct CheckResults {
    pub(super) files: Vec<CheckedFile>,
    /// An error for each path that stands for no file.
    pub(super) errors: Vec<CommandError>,
    /// Whether warnings fail the check.
    pub(super) deny_warnings: bool,
    /// Whether files were to be rewritten.
    pub(super) fix: bool,
}

/// Counts over all files.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Counts {
    pub(super) files: usize,
    pub(super) cases: usize,
    pub(super) drafts: usize,
    pub(super) errors: usize,
    pub(super) warnings: usize,
    /// Paths that stand for no file, and files that could not be read or written.
    pub(super) not_checked: usize,
}

impl CheckResults {
    pub(super) fn counts(&self) -> Counts {
        let problems = || self.files.iter().flat_map(|file| &file.found.problems);
        let errors = problems().filter(|problem| problem.is_error()).count();
        Counts {
            files: self.files.len(),
            cases: self.files.iter().map(|file| file.cases).sum(),
            drafts: self.files.iter().map(|file| file.drafts).sum(),
            errors,
            warnings: problems().count() - errors,
            not_checked: self.not_checked().count(),
        }
    }

    pub(super) fn outcome(&self) -> Outcome {
        let counts = self.counts();
        if counts.not_checked > 0 {
            Outcome::Unmeasurable
        } else if counts.errors > 0 || (self.deny_warnings && counts.warnings > 0) {
            Outcome::Failed
        } else {
            Outcome::Passed
        }
    }

    /// What could not be checked: the name of the file, if the path stands for one, and the error.
    pub(super) fn not_checked(&self) -> impl Iterator<Item = (Option<&str>, &CommandError)> {
        let of_files =
            self.files.iter().filter_map(|file| Some((Some(file.shown.as_str()), file.error.as_ref()?)));
        of_files.chain(self.errors.iter().map(|error| (None, error)))
    }
}
