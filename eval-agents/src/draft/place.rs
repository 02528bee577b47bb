//! Places in a case that its reviewer should look at.

use std::fmt;

/// A place where a secret stood.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Masked {
    /// The place, in words: `turn 1, the message of the user`.
    pub place: String,
    /// The key under which it stood, if its name gave it away; `None` if it looked like a key or was the value of a variable.
    pub name: Option<String>,
}

impl Masked {
    pub(super) fn new(place: impl Into<String>, name: Option<String>) -> Self {
        Self { place: place.into(), name }
    }
}

impl fmt::Display for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{}: `{name}` is named like a secret", self.place),
            None => write!(f, "{}: something that looks like a key, or the value of a variable", self.place),
        }
    }
}

/// An argument of a tool that is probably another one next time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Volatile {
    /// The turn, from 1.
    pub turn: usize,
    /// The tool.
    pub tool: String,
    /// The argument: `at`, or `rooms[0].id` for one inside another.
    pub argument: String,
    /// What it is.
    pub kind: VolatileKind,
    /// Its value.
    pub value: String,
}

/// What an argument is that is probably another one next time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VolatileKind {
    /// A UUID.
    Uuid,
    /// A date, with or without a time.
    Time,
    /// A number of seconds, milliseconds, microseconds or nanoseconds since 1970.
    Epoch,
}

impl fmt::Display for VolatileKind {
    /// With its article.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uuid => "a UUID",
            Self::Time => "a time",
            Self::Epoch => "a time since 1970",
        })
    }
}

impl fmt::Display for Volatile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { turn, tool, argument, kind, value } = self;
        write!(f, "turn {turn}, `{tool}`: `{argument}` is {kind}, `{value}`")
    }
}
