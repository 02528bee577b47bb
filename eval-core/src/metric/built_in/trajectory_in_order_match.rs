//! `trajectory_in_order_match` is 1 for a turn that makes the expected tool calls in their order, else 0.
//!
//! # Algorithm
//!
//! That of `tool_trajectory_avg_score` with `match_type: "IN_ORDER"`: other calls may come between.
//!
//! Source: the metric of this name of Vertex AI's evaluation service, with ADK's equality of calls (see
//! `tool_trajectory_avg_score`).
//!
//! # Range
//!
//! 0 or 1 per turn. The overall score is the naive mean over the turns.
//!
//! # Edge cases
//!
//! A turn without expected calls scores 1, whatever is called. `trajectory_exact_match`, or the key `forbidden_tools`
//! of `tool_trajectory_avg_score`, demand that no call is made.

use eval_format::MatchType;

use super::calls::match_turns;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "trajectory_in_order_match";

/// The metric `trajectory_in_order_match`.
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
