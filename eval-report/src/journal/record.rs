//! A line of a journal as a record.

use std::fmt;

use eval_core::journal::{
    Beside, Decided, Ended, Head, Listed, Planned, Ran, RunInvalidated, SCHEMA, Scored, Started, TurnBegan,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;

/// One line of a journal.
///
/// ```
/// use eval_report::journal::Record;
///
/// let line = br#"{"record":"decided","test":1,"verdict":{"is":"passed"},"elapsed":0.5,"at":"2026-11-22T02:31:07.250Z"}"#;
/// let Record::Decided(decided) = Record::parse(line)? else { unreachable!() };
/// assert!(decided.verdict.passed());
///
/// let error = Record::parse(br#"{"record":"decided","test":1}"#).unwrap_err();
/// assert!(error.to_string().starts_with("verdict is missing"));
/// # Ok::<(), eval_report::journal::RecordError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Record {
    /// The first line: the process that writes.
    Head(Head),
    /// The tests of the test binary.
    Listed(Listed),
    /// The tests of another test binary of the package.
    Beside(Beside),
    /// A program is about to run cases.
    Planned(Planned),
    /// A test began.
    Started(Started),
    /// A turn began.
    TurnBegan(TurnBegan),
    /// A run ended and is not scored yet.
    Ran(Ran),
    /// A run was scored.
    Scored(Scored),
    /// A run that was recorded turned out to be an error.
    RunInvalidated(RunInvalidated),
    /// A test ended.
    Decided(Decided),
    /// A process of hand-written tests, or a program, ended by itself.
    Ended(Ended),
    /// A record of a later version.
    Unknown,
}

impl Record {
    /// Reads a line without checking its seal. The kind of the record is its first field.
    pub fn parse(line: &[u8]) -> Result<Self, RecordError> {
        match kind(line) {
            Some("head") => read(line, Self::Head),
            Some("listed") => read(line, Self::Listed),
            Some("beside") => read(line, Self::Beside),
            Some("planned") => read(line, Self::Planned),
            Some("started") => read(line, Self::Started),
            Some("turn") => read(line, Self::TurnBegan),
            Some("ran") => read(line, Self::Ran),
            Some("scored") => read(line, Self::Scored),
            Some("broke") => read(line, Self::RunInvalidated),
            Some("decided") => read(line, Self::Decided),
            Some("ended") => read(line, Self::Ended),
            Some(_) => read(line, |_: IgnoredAny| Self::Unknown),
            None => {
                read(line, |_: IgnoredAny| ())?;
                Err(RecordError::NoRecord("a record begins with its kind".to_owned()))
            }
        }
    }
}

fn read<'l, T: Deserialize<'l>, R>(line: &'l [u8], of: impl FnOnce(T) -> R) -> Result<R, RecordError> {
    serde_json::from_slice(line).map(of).map_err(|error| RecordError::from_json(&error))
}

/// The kind that a line begins with. The line may be incomplete.
pub(super) fn kind(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(b"{\"record\":\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// An error of reading a line of a journal.
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
    /// The record cannot follow those before it. The text says why.
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
    fn from_json(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        // The parser sees one line, so its line number is always 1.
        let what = text.split_once(" at line 1 column ").map_or(text.as_str(), |(what, _)| what);
        let what = format!("{what} (column {})", error.column());
        match error.classify() {
            Category::Data => Self::NoRecord(what),
            Category::Io | Category::Syntax | Category::Eof => Self::NotJson(what),
        }
    }
}
