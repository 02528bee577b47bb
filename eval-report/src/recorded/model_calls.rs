//! Calls of the agent's models, as the gateway saw them, over the runs of cases.

use std::collections::BTreeMap;

use eval_core::report::ModelUse;
use serde::Serialize;

use crate::journal::Attempt;

/// The calls of one model in all runs of a case, or of several cases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModelCalls {
    pub model: String,
    /// The calls that came: a retry is one more.
    pub requests: usize,
    /// The calls that had an answer.
    pub calls: usize,
    /// The calls that the model itself answered. The others were replayed.
    pub asked: usize,
    /// The tokens; `None` if no answer says them.
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    /// The tokens of the input that the provider had in a cache.
    pub cached_tokens: Option<i64>,
}

impl ModelCalls {
    /// The calls of each model, by name.
    pub fn of<'a>(attempts: impl Iterator<Item = &'a Attempt>) -> Vec<Self> {
        let mut models: BTreeMap<&str, Self> = BTreeMap::new();
        for of_model in attempts.flat_map(Attempt::runs).flat_map(|ran| &ran.transcript.models) {
            let new = || Self { model: of_model.model.clone(), ..Self::default() };
            models.entry(&of_model.model).or_insert_with(new).add(of_model);
        }
        models.into_values().collect()
    }

    /// Sums saturate: a journal may hold any numbers.
    fn add(&mut self, of_run: &ModelUse) {
        // A journal of before has none.
        self.requests = self.requests.saturating_add(of_run.requests.max(of_run.calls));
        self.calls = self.calls.saturating_add(of_run.calls);
        self.asked = self.asked.saturating_add(of_run.asked);
        for (sum, more) in [
            (&mut self.input_tokens, of_run.usage.prompt_token_count),
            (&mut self.output_tokens, of_run.usage.candidates_token_count),
            (&mut self.cached_tokens, of_run.usage.cached_content_token_count),
        ] {
            *sum = [*sum, more].into_iter().flatten().reduce(i64::saturating_add);
        }
    }
}
