//! Tokens that calls of models took, by what their answers say.

use std::ops::AddAssign;

use eval_format::{Map, Value};

/// The tokens of an answer, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request, with the cached ones.
    pub input: u64,
    /// Tokens of the answer, with thoughts.
    pub output: u64,
    /// Tokens of the request that the provider had in a cache.
    pub cached: u64,
}

impl Usage {
    /// All tokens.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The usage after a later event of the same answer. An event may repeat one of the numbers alone.
    pub(crate) fn updated(self, later: Self) -> Self {
        Self {
            input: self.input.max(later.input),
            output: self.output.max(later.output),
            cached: self.cached.max(later.cached),
        }
    }
}

impl Usage {
    /// The difference to another usage, at least 0.
    pub(crate) fn without(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cached: self.cached.saturating_sub(other.cached),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
    }
}

/// A count in an answer.
pub(crate) fn number(usage: &Map, key: &str) -> Option<u64> {
    usage.get(key).and_then(Value::as_i64).and_then(|count| u64::try_from(count).ok())
}
