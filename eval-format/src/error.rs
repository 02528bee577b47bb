//! The errors of reading a file.

use std::path::PathBuf;
use std::{fmt, io};

use crate::problem::Problems;

/// The reason why a file could not be read: it cannot be opened, or it has errors.
///
/// ```
/// use eval_format::{EvalConfig, ReadError};
///
/// let error = EvalConfig::read("no/such/test_config.json").unwrap_err();
/// assert!(matches!(error, ReadError::Io { .. }));
/// assert!(error.to_string().starts_with("cannot read `no/such/test_config.json`: "));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be opened or read.
    Io {
        /// The path as it was given.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file was read and has errors.
    Problems(Problems),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "cannot read `{}`: {source}", path.display()),
            Self::Problems(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<Problems> for ReadError {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}
