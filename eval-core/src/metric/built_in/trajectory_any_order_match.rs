//! `trajectory_any_order_match` is 1 for a turn that makes the expected tool calls in any order, else 0.
//!
//! # Algorithm
//!
//! That of `tool_trajectory_avg_score` with `match_type: "ANY_ORDER"`. Each call fulfils one expected call, so a call
//! that is expected twice must be made twice. There may be other calls.
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
//! A turn without expected calls scores 1, whatever is called.

use eval_format::MatchType;

use super::calls::match_turns;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "trajectory_any_order_match";

/// The metric `trajectory_any_order_match`.
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
