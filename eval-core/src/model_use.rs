//! Calls of an agent's models, as the gateway saw them. Reports and journals hold these in every build.

use eval_format::UsageMetadata;
use eval_support::message::MissingCall;

use crate::verdict::{Role, Verdict};

/// The calls that an agent made of one model in a run, where calls of models are recorded or replayed.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelUse {
    /// The model, as the requests name it.
    pub model: String,
    /// The number of calls that came, also those that failed or that a fault answered: a retry is one more.
    pub requests: usize,
    /// The number of calls that had an answer.
    pub calls: usize,
    /// The number of calls that the model itself answered. The others were replayed.
    pub asked: usize,
    /// The tokens of all answers, as far as these say them. A replayed answer has the tokens of its recording.
    pub usage: UsageMetadata,
}

/// The call whose missing answer made a case an ERROR: recording it resolves that, and rerunning the case does not.
pub fn missing_call(verdict: &Verdict) -> Option<MissingCall> {
    match verdict {
        Verdict::Error { role: Role::Recording, message } => MissingCall::from_text(message),
        _ => None,
    }
}

/// Remains of a run's model calls.
#[derive(Debug, Default)]
pub(crate) struct ModelsEnded {
    pub(crate) notes: Vec<String>,
    pub(crate) uses: Vec<ModelUse>,
    /// The error of the recording.
    pub(crate) error: Option<String>,
}

/// The runs of the cases of a set.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "models"),
    expect(dead_code, reason = "no calls of models are recorded in this build")
)]
pub(crate) struct PlannedRuns {
    pub(crate) runs: usize,
    /// Whether the agent is one of the variants of a matrix, which share the recordings of a case.
    pub(crate) is_variant: bool,
}

#[cfg(feature = "models")]
impl From<eval_gateway::Ended> for ModelsEnded {
    fn from(ended: eval_gateway::Ended) -> Self {
        let eval_gateway::Ended { notes, models, error, .. } = ended;
        Self { notes, uses: models.into_iter().map(ModelUse::from).collect(), error }
    }
}

#[cfg(feature = "models")]
impl From<eval_gateway::ModelUse> for ModelUse {
    fn from(of_model: eval_gateway::ModelUse) -> Self {
        let eval_gateway::ModelUse { model, requests, calls, asked, usage, .. } = of_model;
        let [requests, calls, asked] =
            [requests, calls, asked].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        Self { model, requests, calls, asked, usage: of_gateway(usage) }
    }
}

/// The tokens in ADK's form, as the events of an agent have them. A count that no answer says is not known.
#[cfg(feature = "models")]
fn of_gateway(usage: eval_gateway::Usage) -> UsageMetadata {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let mut known = UsageMetadata::default();
    if usage.total() > 0 {
        known.prompt_token_count = Some(number(usage.input));
        known.candidates_token_count = Some(number(usage.output));
        known.total_token_count = Some(number(usage.total()));
        known.cached_content_token_count = Some(usage.cached).filter(|cached| *cached > 0).map(number);
    }
    known
}
