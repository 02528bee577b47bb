//! Writing exports as files.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a report could not be exported.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// A name cannot be part of a path, so ADK would neither save nor find the result.
    Name {
        /// What the name is of: `app name`, `eval set id`.
        what: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
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
    /// Adds the path to an error of the system.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }
}

/// Creates the folder of a file.
pub(super) fn create_folder_of(path: &Path) -> Result<(), ExportError> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            fs::create_dir_all(folder).map_err(ExportError::io(folder))
        }
        _ => Ok(()),
    }
}

/// Writes a new file under a temporary name and renames it when it is complete.
///
/// The temporary name serves as a lock: if two processes save the same result, the second one fails.
pub(super) fn create_whole(path: &Path, text: &str) -> Result<(), ExportError> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".tmp");
    let unfinished = Path::new(&unfinished);
    let mut file = match File::create_new(unfinished) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(ExportError::Exists(unfinished.to_owned()));
        }
        Err(error) => return Err(ExportError::io(unfinished)(error)),
    };
    let written = match path.try_exists() {
        Ok(false) => file.write_all(text.as_bytes()).and_then(|()| fs::rename(unfinished, path)),
        Ok(true) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) => Err(error),
    };
    written.map_err(|error| {
        // The first error is the one to report.
        let _ = fs::remove_file(unfinished);
        match error.kind() {
            io::ErrorKind::AlreadyExists => ExportError::Exists(path.to_owned()),
            _ => ExportError::io(path)(error),
        }
    })
}
