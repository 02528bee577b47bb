//! A file to read.

use std::fs;
use std::path::Path;

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
        match fs::read(path) {
            Ok(bytes) => Ok(Self { shown, bytes }),
            Err(error) => {
                let help = "name an existing file that this user may read";
                Err(CommandError::new(format!("cannot read `{shown}`: {error}"), help))
            }
        }
    }
}
