//! Where a draft comes from.

use eval_core::format::{Map, Value};
use eval_support::secrets::mask;

/// Where a draft comes from.
///
/// ```
/// use eval_agents::draft::Origin;
///
/// let origin = Origin::new("support chats").with("session", "s-17");
/// assert_eq!(origin.from, "support chats");
/// assert_eq!(origin.details["session"], "s-17");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Origin {
    /// The file, the server, or what else it is.
    pub from: String,
    /// What else is known: the kind of the file, the id of the session.
    pub details: Map,
}

impl Origin {
    /// An origin of which only this is known.
    pub fn new(from: impl Into<String>) -> Self {
        Self { from: mask(&from.into()).into_owned(), details: Map::new() }
    }

    /// Adds what else is known. A text is kept without secrets.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::String(text) => Value::String(mask(&text).into_owned()),
            other => other,
        };
        self.details.insert(key, value);
        self
    }

    pub(super) fn to_map(&self) -> Map {
        let mut map = Map::from([("from", self.from.as_str())]);
        map.extend(self.details.clone());
        map
    }
}
