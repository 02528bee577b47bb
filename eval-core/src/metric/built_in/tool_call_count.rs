//! `tool_call_count_v1` counts the tool calls of a turn. Informational.
//!
//! Range: 0 and up per turn. The overall score is the mean over all turns, those without calls included.
//!
//! Source: `_ToolCallCountV1Evaluator` in `_efficiency_evaluators.py` of google-adk 2.13.0.

use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::usage::tool_calls;

pub(super) const NAME: &str = "tool_call_count_v1";

/// The metric `tool_call_count_v1`.
#[derive(Debug)]
pub(crate) struct ToolCallCount;

impl Metric for ToolCallCount {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(input.score_turns(&|turn, _| Score::from(tool_calls(turn))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::tests::computed::score;
    use eval_format::{FunctionCall, Invocation};
    use serde_json::json;

    #[test]
    fn the_mean_counts_turns_without_calls() {
        let twice = || {
            let call = || FunctionCall::new("f", json!({}));
            Invocation::user("q").call(call()).call(call())
        };
        let scores = score(&ToolCallCount, &[Invocation::user("q"), twice(), twice()]);
        assert_eq!(scores.overall(), Some(1.333_333_333_333_333_3));
    }
}
