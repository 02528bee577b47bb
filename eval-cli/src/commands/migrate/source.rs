//! A file to read.

use std::path::Path;

use crate::files::read;
use crate::output::CommandError;

/// The bytes of a file, and its path as messages show it.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) shown: String,
    pub(super) bytes: Vec<u8>,
}

impl Source {
    pub(super) fn read(path: &Path) -> Result<Self, CommandError> {
        let shown = path.display().to_string();
        Ok(Self { bytes: read(path)?, shown })
    }
}
