//! A record of any kind.

use std::fmt;

use serde_core::de::{Error as _, MapAccess, Visitor};
use serde_core::{Deserialize, Deserializer};

use super::field::{Key, Object, pass_over};
use super::fields::Kind;
use super::outline;
use super::record::{Broke, Decided, Head, Listed, Planned, Ran, Scored, Started};

/// One line of a journal.
///
/// ```
/// use eval_core::journal::Record;
///
/// let line = r#"{"record":"decided","test":1,"verdict":{"is":"passed"},"elapsed":0.5,"at":"2026-11-22T02:31:07.250Z"}"#;
/// let Record::Decided(decided) = serde_json::from_str(line)? else { unreachable!() };
/// assert!(decided.verdict.passed());
///
/// let error = serde_json::from_str::<Record>(r#"{"record":"decided","test":1}"#).unwrap_err();
/// assert!(error.to_string().starts_with("verdict is missing"));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// The kind is the first field, as it is written.
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

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Line { in_outline: false })
    }
}

/// A record without what agents and judges said. Texts that nobody asks for are passed over while they are read.
#[derive(Clone, Debug, PartialEq)]
#[doc(hidden)]
pub struct Outline(pub Record);

impl<'de> Deserialize<'de> for Outline {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Line { in_outline: true }).map(Self)
    }
}

struct Line {
    in_outline: bool,
}

impl<'de> Visitor<'de> for Line {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
        if map.next_key::<Key<'_>>()?.is_none_or(|Key(first)| first != "record") {
            return Err(A::Error::custom("a record begins with its kind"));
        }
        let Key(kind) = map.next_value()?;
        Ok(match &*kind {
            Head::NAME => Record::Head(Head::read_fields(map)?),
            Listed::NAME => Record::Listed(Listed::read_fields(map)?),
            Planned::NAME => Record::Planned(Planned::read_fields(map)?),
            Started::NAME => Record::Started(Started::read_fields(map)?),
            Ran::NAME if self.in_outline => Record::Ran(outline::ran(map)?),
            Ran::NAME => Record::Ran(Ran::read_fields(map)?),
            Scored::NAME => {
                Record::Scored(shortened(Scored::read_fields(map)?, outline::shorten_scored, &self))
            }
            Broke::NAME => Record::Broke(Broke::read_fields(map)?),
            Decided::NAME => {
                Record::Decided(shortened(Decided::read_fields(map)?, outline::shorten_decided, &self))
            }
            _ => {
                while map.next_key::<Key<'_>>()?.is_some() {
                    pass_over(&mut map)?;
                }
                Record::Unknown
            }
        })
    }
}

fn shortened<T>(mut record: T, shorten: fn(&mut T), line: &Line) -> T {
    if line.in_outline {
        shorten(&mut record);
    }
    record
}
