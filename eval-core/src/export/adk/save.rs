//! Results as files, named and placed as ADK does.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::EvalSetResult;

/// Why a report could not be written.
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
    /// There is a result of that name already; it was left alone.
    Exists(PathBuf),
    /// A file or a folder could not be written.
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
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

impl std::error::Error for ExportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Name { .. } | Self::Exists(_) => None,
        }
    }
}

impl ExportError {
    pub(in crate::export) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }
}

impl EvalSetResult<'_> {
    /// Saves the result as `<agents_dir>/<app_name>/.adk/eval_history/<name>.evalset_result.json`, where ADK
    /// keeps and lists them, and returns the path.
    ///
    /// The file is complete as soon as it is there. Fails where the app name or the id of the set cannot be
    /// part of a path (empty, `.`, `..`, with a slash, a backslash, a NUL or a drive), where a result of that
    /// name exists, and where the file cannot be written.
    pub fn save(&self, agents_dir: impl AsRef<Path>) -> Result<PathBuf, ExportError> {
        path_segment("app name", &self.app_name)?;
        path_segment("eval set id", self.eval_set_id)?;
        let folder = agents_dir.as_ref().join(&self.app_name).join(".adk").join("eval_history");
        let path = folder.join(format!("{}.evalset_result.json", self.name()));
        create_folder_of(&path)?;
        create_whole(&path, &self.to_json())?;
        Ok(path)
    }
}

/// ADK's rule for names that become part of a path.
fn path_segment(what: &'static str, name: &str) -> Result<(), ExportError> {
    let has_drive = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name[1..].starts_with(':');
    let reason = match name {
        "" => "is empty",
        "." | ".." => "is a folder of its own",
        _ if name.contains('\0') => "contains a NUL",
        _ if name.contains(['/', '\\']) => "contains a path separator",
        _ if has_drive => "begins with a drive",
        _ => return Ok(()),
    };
    Err(ExportError::Name { what, name: name.to_owned(), reason })
}

/// Makes the folder that a file is to stand in.
pub(in crate::export) fn create_folder_of(path: &Path) -> Result<(), ExportError> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            fs::create_dir_all(folder).map_err(ExportError::io(folder))
        }
        _ => Ok(()),
    }
}

/// Writes a new file under another name and gives it its own when it is complete.
///
/// The other name serves as a lock: of two that save the same result one fails, whichever comes second.
fn create_whole(path: &Path, text: &str) -> Result<(), ExportError> {
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
        // The first error is the one to tell.
        let _ = fs::remove_file(unfinished);
        match error.kind() {
            io::ErrorKind::AlreadyExists => ExportError::Exists(path.to_owned()),
            _ => ExportError::io(path)(error),
        }
    })
}
