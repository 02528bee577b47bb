use eval_format::MatchType;

use super::calls::match_turns;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "trajectory_exact_match";

/// `trajectory_exact_match`: did the agent make these tool calls, in this order, and no others?
///
/// # Range
///
/// 1 or 0 per turn; the mean over turns is 0 to 1. No calls on both sides score 1, on one side alone 0.
///
/// # Criterion
///
/// A threshold and nothing else. It is `tool_trajectory_avg_score` with `match_type: "EXACT"` under the name that Vertex
/// AI has for it.
///
/// # Comparison
///
/// That of `tool_trajectory_avg_score`: names by code points, arguments by Python's `==`, ids never.
///
/// Source: the metric of that name of Vertex AI's evaluation service, with ADK's equality of calls.
#[derive(Debug)]
pub(crate) struct TrajectoryExactMatch;

impl Metric for TrajectoryExactMatch {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(match_turns(input, MatchType::Exact))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::tests::computed::check_calls;

    #[test]
    fn calls_are_the_same_in_the_same_order() {
        for (expected, actual, score) in [
            ("", "", 1.0),
            ("a b", "a b", 1.0),
            ("a b", "b a", 0.0),
            ("a b", "a x b", 0.0),
            ("a a", "a", 0.0),
            ("a", "", 0.0),
            ("", "a", 0.0),
            ("é 👍", "é 👍", 1.0),
            ("é", "e\u{301}", 0.0),
        ] {
            check_calls(&TrajectoryExactMatch, expected, actual, score);
        }
    }
}
