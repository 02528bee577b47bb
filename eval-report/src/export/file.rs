//! Writing exports as files.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use eval_support::whole_file;

/// An error of an export.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// A name cannot be part of a path, so ADK would neither save nor find the result.
    Name {
        /// The kind of name: `app name`, `eval set id`.
        what: &'static str,
        /// The name.
        name: String,
        /// The fault in the name.
        reason: &'static str,
    },
    /// The file exists already. It was not overwritten.
    Exists(PathBuf),
    /// A file or a folder could not be written.
    Io {
        /// The file or the folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { what, name, reason } => write!(f, "the {what} `{}` {reason}", name.escape_debug()),
            Self::Exists(path) => write!(f, "`{}` exists already; it was not overwritten", path.display()),
            Self::Io { path, source } => write!(f, "cannot write `{}`: {source}", path.display()),
        }
    }
}

impl std::error::Error for ExportError {}

impl ExportError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }
}

pub(super) fn create_folder_of(path: &Path) -> Result<(), ExportError> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            fs::create_dir_all(folder).map_err(ExportError::io(folder))
        }
        _ => Ok(()),
    }
}

/// Writes a new file. It appears under its name when it is complete.
pub(super) fn create_whole(path: &Path, text: &str) -> Result<(), ExportError> {
    whole_file::create(path, text).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => ExportError::Exists(path.to_owned()),
        _ => ExportError::io(path)(error),
    })
}
