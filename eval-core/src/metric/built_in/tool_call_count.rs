use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::usage::tool_calls;

pub(super) const NAME: &str = "tool_call_count_v1";

/// `tool_call_count_v1`: how many tools were called. Informational, 0 and up; the mean over all turns.
///
/// Source: `tool_call_count` evaluator of google-adk 2.13.0.
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
    use eval_format::{FunctionCall, Invocation, json};

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
