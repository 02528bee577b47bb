//! Why a file could not be read.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::problem::Problems;

/// Why a file could not be read: it could not be opened, or there are problems in it.
#[derive(Debug)]
pub enum ReadError {
    /// The file could not be opened or read.
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// What is wrong in the file.
    Problems(Problems),
}

impl ReadError {
    pub(crate) fn io(path: &Path, error: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "cannot read `{}`: {error}", path.display()),
            Self::Problems(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}
