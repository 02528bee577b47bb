use eval_format::MatchType;

use super::calls::match_turns;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "trajectory_in_order_match";

/// `trajectory_in_order_match`: did the agent make the expected tool calls in order?
///
/// # Range
///
/// 1 or 0 per turn; the mean over turns is 0 to 1. Others may come between, so expecting no calls is always fulfilled:
/// use `trajectory_exact_match`, or `forbidden_tools` of `tool_trajectory_avg_score`, to say that none is to be made.
///
/// # Criterion
///
/// A threshold and nothing else. It is `tool_trajectory_avg_score` with `match_type: "IN_ORDER"` under the name that
/// Vertex AI has for it.
///
/// # Comparison
///
/// That of `tool_trajectory_avg_score`: names by code points, arguments by Python's `==`, ids never.
///
/// Source: the metric of that name of Vertex AI's evaluation service, with ADK's equality of calls.
#[derive(Debug)]
pub(crate) struct TrajectoryInOrderMatch;

impl Metric for TrajectoryInOrderMatch {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(match_turns(input, MatchType::InOrder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::tests::computed::check_calls;

    #[test]
    fn expected_calls_come_in_order_with_others_between() {
        for (expected, actual, score) in [
            ("", "", 1.0),
            ("", "a", 1.0),
            ("a", "", 0.0),
            ("a b", "x a x b x", 1.0),
            ("a b", "b a", 0.0),
            ("a a", "a x", 0.0),
            ("a a", "a x a", 1.0),
            ("👍 é", "x 👍 é", 1.0),
        ] {
            check_calls(&TrajectoryInOrderMatch, expected, actual, score);
        }
    }
}
