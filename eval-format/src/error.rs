//! What reading a file returns as its error: all problems of the file, or why it cannot be opened.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::problem::Problem;
use crate::render::render_with_level;

/// How many problems are shown; after so many, mending the first helps more than seeing the rest.
const MOST_SHOWN: usize = 20;

/// All problems of one file, together with its text, so that it can show them.
///
/// `Display` renders each as the compiler would: headline, place, snippet, help; errors before
/// warnings, and at most 20 of them. At least one is an error when this is returned as one.
#[derive(Clone, Debug)]
pub struct Problems {
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) items: Vec<Problem>,
}

impl Problems {
    /// The problems in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.items.iter()
    }

    /// The name of the file as it is shown.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text that the ranges point into.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = 0;
        for errors in [true, false] {
            for problem in self.items.iter().filter(|problem| problem.is_error() == errors) {
                if shown < MOST_SHOWN {
                    f.write_str(if shown > 0 { "\n\n" } else { "" })?;
                    f.write_str(&render_with_level(problem, &self.file, &self.text))?;
                    shown += 1;
                }
            }
        }
        match self.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            1 => f.write_str("\n\n... and 1 more problem"),
            more => write!(f, "\n\n... and {more} more problems"),
        }
    }
}

/// Why a file could not be read: it cannot be opened, or it is not what it should be.
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
        /// What the operating system said.
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

// The cause is part of the text already, so `source` is left at none: it would be printed twice.
impl std::error::Error for ReadError {}

impl From<Problems> for ReadError {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}
