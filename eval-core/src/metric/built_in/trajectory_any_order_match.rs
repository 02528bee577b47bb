use eval_format::MatchType;

use super::calls::match_turns;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "trajectory_any_order_match";

/// `trajectory_any_order_match`: did the agent make the expected tool calls, in whatever order?
///
/// # Range
///
/// 1 or 0 per turn; the mean over turns is 0 to 1. Each call fulfils one expectation, so a call expected twice has to be
/// made twice. Others may be there, so expecting no calls is always fulfilled.
///
/// # Criterion
///
/// A threshold and nothing else. It is `tool_trajectory_avg_score` with `match_type: "ANY_ORDER"` under the name that
/// Vertex AI has for it.
///
/// # Comparison
///
/// That of `tool_trajectory_avg_score`: names by code points, arguments by Python's `==`, ids never.
///
/// Source: the metric of that name of Vertex AI's evaluation service, with ADK's equality of calls.
#[derive(Debug)]
pub(crate) struct TrajectoryAnyOrderMatch;

impl Metric for TrajectoryAnyOrderMatch {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(match_turns(input, MatchType::AnyOrder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::tests::computed::check_calls;

    #[test]
    fn expected_calls_come_in_any_order_each_as_often_as_expected() {
        for (expected, actual, score) in [
            ("", "", 1.0),
            ("", "a", 1.0),
            ("a", "", 0.0),
            ("a b", "b x a", 1.0),
            ("a a", "a b", 0.0),
            ("a a b", "b a a", 1.0),
            ("👍 é", "é 👍", 1.0),
        ] {
            check_calls(&TrajectoryAnyOrderMatch, expected, actual, score);
        }
    }
}
