//! Errors of importing.

use std::{fmt, io};

use eval_core::format::Problems;
use eval_support::secrets::mask;
use eval_support::words::first_of_code_list;

use super::format::Format;
use super::mapping::MappingError;
use crate::traces::TraceError;

/// An error of importing a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read.
    #[non_exhaustive]
    Io {
        /// The file.
        from: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is too large to be read whole.
    #[non_exhaustive]
    TooLarge {
        /// The file.
        from: String,
        /// Its size.
        bytes: u64,
    },
    /// The format of the file is not recognized.
    #[non_exhaustive]
    Unknown {
        /// The file.
        from: String,
    },
    /// The file is not what its format says.
    #[non_exhaustive]
    Unreadable {
        /// The file.
        from: String,
        /// The place, what was expected there, and what was seen.
        why: String,
        /// The error of the library that reads the format, if one does.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The file holds no traces that can be read.
    #[non_exhaustive]
    Traces {
        /// The file.
        from: String,
        /// The cause.
        source: TraceError,
    },
    /// The database has the schema of an earlier ADK, whose events are Python objects.
    #[non_exhaustive]
    OldDatabase {
        /// The file.
        from: String,
        /// ADK's command that makes a new database of it.
        migrate: String,
    },
    /// The columns of a table do not fit the mapping.
    #[non_exhaustive]
    Mapping {
        /// The file.
        from: String,
        /// The mismatch.
        source: MappingError,
    },
    /// A case that was made of the file has errors.
    #[non_exhaustive]
    Case {
        /// The file.
        from: String,
        /// The case: the session, the line.
        what: String,
        /// The errors.
        source: Problems,
    },
    /// The session, the run or the case that was asked for is not there.
    #[non_exhaustive]
    Missing {
        /// The file or the run.
        from: String,
        /// The requested item.
        what: String,
        /// The items that exist.
        there: Vec<String>,
    },
    /// There is no conversation in the file.
    #[non_exhaustive]
    Nothing {
        /// The file.
        from: String,
        /// The content, and the reasons why it is no conversation.
        left_out: Vec<String>,
    },
    /// The format needs a feature of this crate that is off.
    #[non_exhaustive]
    NotCompiled {
        /// The file.
        from: String,
        /// The feature.
        feature: &'static str,
    },
}

impl ImportError {
    pub(super) fn unreadable(from: &str, why: impl Into<String>) -> Self {
        Self::Unreadable { from: from.to_owned(), why: mask(&why.into()).into_owned(), source: None }
    }

    #[cfg(any(feature = "csv", feature = "sqlite"))]
    pub(super) fn of_library(
        from: &str,
        why: &str,
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Unreadable { from: from.to_owned(), why: mask(why).into_owned(), source: Some(error.into()) }
    }

    pub(super) fn case(from: &str, what: impl Into<String>) -> impl FnOnce(Problems) -> Self {
        move |source| Self::Case { from: from.to_owned(), what: what.into(), source }
    }
}

pub(super) const MAX_LISTED_ITEMS: usize = 5;

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { from, source } => write!(f, "cannot read `{from}`: {source}"),
            Self::TooLarge { from, bytes } => {
                write!(f, "`{from}` has {} MiB, which is too much to be read at once", bytes >> 20)
            }
            Self::Unknown { from } => write!(
                f,
                "`{from}` looks like nothing that can be imported; its format can be named: {}",
                Format::ALL.map(Format::name).join(", ")
            ),
            Self::Unreadable { from, why, .. } => write!(f, "`{from}`: {why}"),
            Self::Traces { from, source } => write!(f, "`{from}`: {}", mask(&source.to_string())),
            Self::OldDatabase { from, migrate } => write!(
                f,
                "`{from}` has the schema of an earlier ADK, whose events only Python can read; make a new database of it \
                 with ADK's own command, then import that: `{migrate}`"
            ),
            Self::Mapping { from, source } => write!(f, "`{from}`: {source}"),
            Self::Case { from, what, source } => write!(f, "`{from}`, {what}: {source}"),
            Self::Missing { from, what, there } => {
                write!(f, "`{from}` has no {what}")?;
                match there.as_slice() {
                    [] => Ok(()),
                    there => write!(f, "; it has {}", first_of_code_list(there, MAX_LISTED_ITEMS)),
                }
            }
            Self::Nothing { from, left_out } => {
                write!(f, "`{from}` holds no conversation")?;
                for (at, what) in left_out.iter().take(MAX_LISTED_ITEMS).enumerate() {
                    write!(f, "{} {what}", if at == 0 { ":" } else { ";" })?;
                }
                Ok(())
            }
            Self::NotCompiled { from, feature } => {
                write!(f, "`{from}` needs the feature `{feature}`, which is off in this build")
            }
        }
    }
}

impl std::error::Error for ImportError {}
