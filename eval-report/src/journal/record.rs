//! A line of a journal as a record.

use eval_core::journal::{Broke, Decided, Head, Listed, Planned, Ran, Scored, Started};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::parse::RecordError;

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
    /// The first line: who writes.
    Head(Head),
    /// Which tests the binary holds.
    Listed(Listed),
    /// A program is about to run cases.
    Planned(Planned),
    /// A test began.
    Started(Started),
    /// A run ended and is not scored yet.
    Ran(Ran),
    /// A run was scored.
    Scored(Scored),
    /// A run that was recorded turned out to be an error.
    Broke(Broke),
    /// A test ended.
    Decided(Decided),
    /// A record of a later version.
    Unknown,
}

impl Record {
    /// Reads a line, whatever its seal is. The kind of the record is its first field.
    pub fn parse(line: &[u8]) -> Result<Self, RecordError> {
        match kind(line) {
            Some("head") => read(line, Self::Head),
            Some("listed") => read(line, Self::Listed),
            Some("planned") => read(line, Self::Planned),
            Some("started") => read(line, Self::Started),
            Some("ran") => read(line, Self::Ran),
            Some("scored") => read(line, Self::Scored),
            Some("broke") => read(line, Self::Broke),
            Some("decided") => read(line, Self::Decided),
            Some(_) => read(line, |_: IgnoredAny| Self::Unknown),
            None => {
                read(line, |_: IgnoredAny| ())?;
                Err(RecordError::NoRecord("a record begins with its kind".to_owned()))
            }
        }
    }
}

fn read<'l, T: Deserialize<'l>, R>(line: &'l [u8], of: impl FnOnce(T) -> R) -> Result<R, RecordError> {
    serde_json::from_slice(line).map(of).map_err(|error| RecordError::of(&error))
}

/// The kind that a line begins with, be the line complete or not.
pub(super) fn kind(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(b"{\"record\":\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&rest[..end]).ok()
}
