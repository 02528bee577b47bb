//! Tokens that calls of models took, by what their answers say.

use std::collections::BTreeMap;
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

/// The calls of one model, and the tokens of their answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelUse {
    /// The name of the model in the requests.
    pub model: String,
    /// The calls that came, also those that failed or that a fault answered: a retry is one more.
    pub requests: u64,
    /// The calls that had an answer.
    pub calls: u64,
    /// The calls that the model itself answered. The others were replayed.
    pub asked: u64,
    /// The tokens, as far as the answers say them.
    pub usage: Usage,
}

/// The answers of a conversation, by model.
#[derive(Debug, Default)]
pub(crate) struct Uses(BTreeMap<String, ModelUse>);

impl Uses {
    /// Counts a call.
    pub(crate) fn request(&mut self, model: &str) {
        self.of(model).requests += 1;
    }

    /// Counts an answer. `is_asked` says that the model gave it now.
    pub(crate) fn add(&mut self, model: &str, usage: Usage, is_asked: bool) {
        let of_model = self.of(model);
        of_model.calls += 1;
        of_model.asked += u64::from(is_asked);
        of_model.usage += usage;
    }

    /// Takes back a call with a recorded answer, which was another conversation's.
    pub(crate) fn take_back(&mut self, model: &str, usage: Usage) {
        let of_model = self.of(model);
        of_model.requests = of_model.requests.saturating_sub(1);
        of_model.calls = of_model.calls.saturating_sub(1);
        of_model.usage = of_model.usage.without(usage);
    }

    /// The sum over all models.
    pub(crate) fn all(&self) -> ModelUse {
        let mut all = ModelUse::default();
        for ModelUse { requests, calls, asked, usage, .. } in self.0.values() {
            all.requests += requests;
            all.calls += calls;
            all.asked += asked;
            all.usage += *usage;
        }
        all
    }

    /// The models that had answers, by name.
    pub(crate) fn by_model(&self) -> Vec<ModelUse> {
        self.0.values().filter(|of_model| of_model.calls > 0).cloned().collect()
    }

    fn of(&mut self, model: &str) -> &mut ModelUse {
        let new = || ModelUse { model: model.to_owned(), ..ModelUse::default() };
        self.0.entry(model.to_owned()).or_insert_with(new)
    }
}

/// A count in an answer.
pub(crate) fn number(usage: &Map, key: &str) -> Option<u64> {
    usage.get(key).and_then(Value::as_i64).and_then(|count| u64::try_from(count).ok())
}
