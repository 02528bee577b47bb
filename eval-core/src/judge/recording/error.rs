//! What can go wrong with the file of a recording.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eval_format::Problems;

/// Why the file of a recording cannot be used.
#[derive(Debug)]
pub(super) enum FileError {
    /// It cannot be read.
    Read { path: PathBuf, error: io::Error },
    /// It is not a recording.
    NotARecording(Problems),
    /// It cannot be written.
    Write { path: PathBuf, error: io::Error },
    /// It cannot be locked: this folder or file serves as the lock.
    Lock { place: PathBuf, error: io::Error },
    /// Another process has held the lock for so long.
    Held { place: PathBuf, waited: Duration },
    /// There is no folder for lock files, for this reason.
    NoLockFolder(String),
}

impl FileError {
    pub(super) fn read(path: &Path, error: io::Error) -> Self {
        Self::Read { path: path.to_owned(), error }
    }

    pub(super) fn write(path: &Path, error: io::Error) -> Self {
        Self::Write { path: path.to_owned(), error }
    }

    pub(super) fn lock(place: &Path, error: io::Error) -> Self {
        Self::Lock { place: place.to_owned(), error }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, error } => write!(f, "cannot read `{}`: {error}", path.display()),
            Self::NotARecording(problems) => problems.fmt(f),
            Self::Write { path, error } => write!(f, "cannot write `{}`: {error}", path.display()),
            Self::Lock { place, error } => write!(f, "cannot lock `{}`: {error}", place.display()),
            Self::Held { place, waited } => {
                write!(f, "cannot lock `{}`: another process has held it for {waited:?}", place.display())
            }
            Self::NoLockFolder(why) => f.write_str(why),
        }
    }
}
