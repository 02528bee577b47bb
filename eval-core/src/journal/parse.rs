//! Reading a record.

use std::fmt;
use std::str::Utf8Error;

use eval_format::Value;

use super::from_json::{Fields, FromJson, Misread};
use super::record::{Broke, Decided, Head, Planned, Ran, RecordedMetric, SCHEMA, Scored, Started};
use super::shape::read_fields;
use crate::transcript::Transcript;

/// One line of a journal.
///
/// ```
/// use eval_core::journal::{Record, RecordError};
///
/// let line = r#"{"record":"decided","test":1,"verdict":"passed","at":"2026-11-22T02:31:07.250Z"}"#;
/// let Record::Decided(decided) = Record::parse(line)? else { unreachable!() };
/// assert!(decided.verdict.passed());
///
/// let error = Record::parse(r#"{"record":"decided","test":1}"#).unwrap_err();
/// assert_eq!(error.to_string(), "verdict is missing");
/// # Ok::<(), RecordError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Record {
    /// The first line: who writes.
    Head(Head),
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

/// Why a line of a journal cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordError {
    /// The line is not UTF-8.
    NotUtf8(Utf8Error),
    /// The line is not JSON. The text says why.
    NotJson(String),
    /// The line is JSON and no record: a field is missing or has another type. The text names the field.
    NoRecord(String),
    /// A later version wrote the file, and this version does not read its records.
    NewerSchema {
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
            Self::NotUtf8(error) => write!(f, "it is not UTF-8: {error}"),
            Self::NotJson(what) | Self::NoRecord(what) | Self::Misplaced(what) => f.write_str(what),
            Self::Changed => f.write_str("it was changed after it was written: its checksum is another"),
            Self::TooLong(length) => write!(f, "it has {length} bytes, which no record has"),
            Self::NewerSchema { schema, evalset } => write!(
                f,
                "it was written by evalset {evalset}, whose records (schema {schema}) this version does not read; \
                 update cargo-evalset"
            ),
        }
    }
}

impl std::error::Error for RecordError {}

impl Record {
    /// Reads a line.
    pub fn parse(line: &str) -> Result<Self, RecordError> {
        let value = Value::parse(line).map_err(|problems| {
            let first = problems.iter().next().map(|first| first.message.clone());
            RecordError::NotJson(first.unwrap_or_else(|| "it is not JSON".to_owned()))
        })?;
        Self::read(value).map_err(RecordError::NoRecord)
    }

    fn read(value: Value) -> Result<Self, Misread> {
        let kind = value["record"].as_str().unwrap_or_default().to_owned();
        Ok(match kind.as_str() {
            "head" => Self::Head(Head::read(value)?.without_sentinels()),
            "planned" => Self::Planned(Planned::read(value)?),
            "started" => Self::Started(Started::read(value)?.without_sentinels()),
            "ran" => Self::Ran(Ran::read(value)?),
            "scored" => Self::Scored(Scored::read(value)?),
            "broke" => Self::Broke(Broke::read(value)?),
            "decided" => Self::Decided(Decided::read(value)?.without_sentinels()),
            "" => return Err("`record` is missing".to_owned()),
            _ => Self::Unknown,
        })
    }
}

impl RecordError {
    /// Checks that this version reads the records behind this head.
    pub(super) fn check_schema(head: &Head) -> Result<(), Self> {
        let Head { schema, evalset, .. } = head;
        if *schema > SCHEMA {
            return Err(Self::NewerSchema { schema: *schema, evalset: evalset.clone() });
        }
        Ok(())
    }
}

/// Earlier versions took `""` and 0 for unknown.
impl Head {
    fn without_sentinels(self) -> Self {
        Self {
            package: not_empty(self.package),
            version: not_empty(self.version),
            binary: not_empty(self.binary),
            ..self
        }
    }
}

impl Started {
    fn without_sentinels(self) -> Self {
        Self {
            eval_set_id: not_empty(self.eval_set_id),
            file: not_empty(self.file),
            set_file: not_empty(self.set_file),
            line: not_zero(self.line),
            column: not_zero(self.column),
            case_hash: not_empty(self.case_hash),
            set_cases: not_zero(self.set_cases),
            label: not_empty(self.label),
            ..self
        }
    }
}

impl Decided {
    fn without_sentinels(self) -> Self {
        Self { headline: not_empty(self.headline), failure: not_empty(self.failure), ..self }
    }
}

fn not_empty<T: AsRef<str>>(text: Option<T>) -> Option<T> {
    text.filter(|text| !text.as_ref().is_empty())
}

fn not_zero(number: Option<usize>) -> Option<usize> {
    number.filter(|number| *number != 0)
}

impl FromJson for Ran {
    fn read(value: Value) -> Result<Self, Misread> {
        let mut fields = Fields::of(value)?.having(&["test", "run", "evaluation"])?;
        let transcript: Transcript = fields.take("transcript")?;
        Ok(Self {
            test: fields.take("test")?,
            run: fields.take("run")?,
            evaluation: fields.take("evaluation")?,
            tokens: transcript.tokens(),
            transcript,
            simulator: fields.take("simulator")?,
        })
    }
}

impl Transcript {
    /// The tokens that the events of a run report; `None` if none does.
    pub fn tokens(&self) -> Option<i64> {
        let events = self.turns.iter().flat_map(|turn| &turn.events);
        events.filter_map(|event| event.usage.as_ref()?.all_tokens()).reduce(i64::saturating_add)
    }
}

read_fields!(Scored having [test, run, evaluation] { test, run, evaluation, metrics });
read_fields!(Broke having [test, run, evaluation] { test, run, evaluation, error });

impl FromJson for RecordedMetric {
    fn read(value: Value) -> Result<Self, Misread> {
        let mut fields = Fields::of(value)?;
        Ok(Self {
            name: fields.take("name")?,
            custom: fields.take("custom")?,
            outcome: fields.take("score")?,
            judge: fields.take("judge")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_missing_is_named_and_not_taken_for_0() {
        for (line, missing) in [
            (r#"{"record":"started","test":1,"runs":1}"#, "name"),
            (r#"{"record":"ran","test":1,"evaluation":1,"transcript":{}}"#, "run"),
            (r#"{"record":"scored","run":1,"evaluation":1}"#, "test"),
            (r#"{"record":"broke","test":1,"run":1,"error":{"role":"agent","message":"x"}}"#, "evaluation"),
            (r#"{"record":"decided","verdict":"passed","at":"1970-01-01T00:00:00.000Z"}"#, "test"),
        ] {
            let expected = RecordError::NoRecord(format!("{missing} is missing"));
            assert_eq!(Record::parse(line), Err(expected), "{line}");
            assert!(super::super::outline::record(line.as_bytes()).is_none(), "{line}");
        }
    }
}
