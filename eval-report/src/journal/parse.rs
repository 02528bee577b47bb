//! Errors of lines that cannot be read.

use std::fmt;

use eval_core::journal::{Head, SCHEMA};
use serde_json::error::Category;

/// Why a line of a journal cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordError {
    /// The line is not JSON. The text says why.
    NotJson(String),
    /// The line is JSON and no record: a field is missing or has another type. The text names the field.
    NoRecord(String),
    /// Another version wrote the file, and this version does not read its records.
    OtherSchema {
        /// The [`Head::schema`] of the file.
        schema: u32,
        /// The [`Head::evalset`] of the file.
        evalset: String,
    },
    /// The record cannot stand behind those before it. The text says why.
    Misplaced(String),
    /// The line was changed after it was written: its checksum is another.
    Changed,
    /// The line is too long for a record. The number is its length in bytes.
    TooLong(usize),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(what) | Self::NoRecord(what) | Self::Misplaced(what) => f.write_str(what),
            Self::Changed => f.write_str("it was changed after it was written: its checksum is another"),
            Self::TooLong(length) => write!(f, "it has {length} bytes, which no record has"),
            Self::OtherSchema { schema, evalset } => {
                let help = if *schema > SCHEMA {
                    "update cargo-evalset"
                } else {
                    "run the tests again with this version"
                };
                write!(
                    f,
                    "it was written by evalset {evalset}, whose records (schema {schema}) this version does not read; \
                     {help}"
                )
            }
        }
    }
}

impl std::error::Error for RecordError {}

impl RecordError {
    pub(super) fn of(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        // The record is one line, whatever its number in the file is.
        let what = text.split_once(" at line 1 column ").map_or(text.as_str(), |(what, _)| what);
        let what = format!("{what} (column {})", error.column());
        match error.classify() {
            Category::Data => Self::NoRecord(what),
            Category::Io | Category::Syntax | Category::Eof => Self::NotJson(what),
        }
    }

    pub(super) fn misplaced(what: &str) -> Self {
        Self::Misplaced(what.to_owned())
    }

    /// Checks that this version reads the records behind this head.
    pub(super) fn check_schema(head: &Head) -> Result<(), Self> {
        let Head { schema, evalset, .. } = head;
        if *schema != SCHEMA {
            return Err(Self::OtherSchema { schema: *schema, evalset: evalset.clone() });
        }
        Ok(())
    }
}
