//! Options for running and deciding a case, which the attribute and `EvalRunner` share.

use std::time::Duration;

use eval_format::{DEFAULT_TIMEOUT, PassRule, ToolSource, TurnAggregation, Value};
use eval_support::hash::content_hash;
use eval_support::variables;

/// Options for running and deciding a case.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The number of runs of each case.
    pub runs: usize,
    /// The rule that combines the runs.
    pub pass: PassRule,
    /// The rule that combines the turns.
    pub gate: TurnAggregation,
    /// The most repetitions of a run in which the agent was not reached.
    pub retry: u32,
    /// Whether calls are judged as ADK does, whatever the cases loosen. `EVALSET_LITERAL` sets it too.
    pub literal: bool,
    /// The time limit for setting up, for opening the session and for each turn.
    pub timeout: Duration,
    /// The source of answers to the calls of the agent.
    pub tools: ToolSource,
}

impl Options {
    /// ADK's defaults: one run and the mean.
    pub const DEFAULT: Self = Self {
        runs: 1,
        pass: PassRule::Mean,
        gate: TurnAggregation::Mean,
        retry: 0,
        literal: false,
        timeout: DEFAULT_TIMEOUT,
        tools: ToolSource::Real,
    };

    /// Whether calls are judged as ADK does: by `literal`, or by the variable.
    pub(crate) fn is_literal(&self) -> bool {
        self.literal || variables::is_literal()
    }

    /// The source of answers to the calls of the agent, if its own tools do not: `golden`, with a file of faults `golden, faults` and the hash of
    /// its values, so that the layout of the file does not matter.
    pub(crate) fn answered_by(&self, faults: Option<&str>) -> Option<String> {
        let hash = |text: &str| {
            let values = Value::parse(text).map(|value| value.to_string());
            content_hash(values.as_deref().unwrap_or(text).as_bytes())
        };
        match (self.tools, faults) {
            (ToolSource::Real, _) => None,
            (tools, None) => Some(tools.to_string()),
            (tools, Some(text)) => Some(format!("{tools}, faults {:016x}", hash(text))),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_answers_the_calls_is_named_with_a_hash_of_its_faults() {
        let golden = Options { tools: ToolSource::Golden, ..Options::DEFAULT };
        assert_eq!(Options::DEFAULT.answered_by(None), None);
        assert_eq!(golden.answered_by(None).as_deref(), Some("golden"));
        let [one, spaced, other] =
            [r#"{"a":1}"#, r#"{ "a": 1 }"#, r#"{"a":2}"#].map(|text| golden.answered_by(Some(text)));
        assert!(one.as_deref().is_some_and(|it| it.starts_with("golden, faults ")), "{one:?}");
        assert!(one == spaced && one != other, "{one:?} {spaced:?} {other:?}");
    }
}
