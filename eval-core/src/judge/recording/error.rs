//! What can go wrong with the file of a recording.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use eval_format::Problems;
use eval_support::lock::FolderLockError;

/// Why the file of a recording cannot be used.
#[derive(Debug)]
pub(super) enum FileError {
    /// It cannot be read.
    Read { path: PathBuf, error: io::Error },
    /// It is not a recording.
    NotARecording(Problems),
    /// It cannot be written.
    Write { path: PathBuf, error: io::Error },
    /// Its folder cannot be locked.
    Lock(FolderLockError),
}

impl FileError {
    pub(super) fn read(path: &Path, error: io::Error) -> Self {
        Self::Read { path: path.to_owned(), error }
    }

    pub(super) fn write(path: &Path, error: io::Error) -> Self {
        Self::Write { path: path.to_owned(), error }
    }

    pub(super) fn lock(path: &Path, error: FolderLockError) -> Self {
        match error {
            // What is missing is a folder to write in.
            FolderLockError::Io { error, .. } if error.kind() == ErrorKind::NotFound => {
                Self::write(path, error)
            }
            error => Self::Lock(error),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, error } => write!(f, "cannot read `{}`: {error}", path.display()),
            Self::NotARecording(problems) => problems.fmt(f),
            Self::Write { path, error } => write!(f, "cannot write `{}`: {error}", path.display()),
            Self::Lock(error) => error.fmt(f),
        }
    }
}
