//! The results for all files.

use super::file::FormattedFile;
use crate::output::{CommandError, Outcome};

/// The results for all files.
#[derive(Debug)]
pub(super) struct FmtResults {
    pub(super) files: Vec<FormattedFile>,
    /// An error for each path that stands for no file.
    pub(super) errors: Vec<CommandError>,
}

impl FmtResults {
    pub(super) fn outcome(&self) -> Outcome {
        let files = self.files.iter().map(|file| file.state.outcome());
        let paths = self.errors.iter().map(|_| Outcome::Unmeasurable);
        files.chain(paths).max().unwrap_or(Outcome::Passed)
    }
}
