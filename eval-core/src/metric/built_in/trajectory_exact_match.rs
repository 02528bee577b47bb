//! `trajectory_exact_match` is 1 for a turn that makes the expected tool calls in their order and no others, else 0.
//!
//! # Algorithm
//!
//! That of `tool_trajectory_avg_score` with `match_type: "EXACT"`.
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
//! A turn scores 1 if neither side has calls, and 0 if only one side has.

use eval_format::MatchType;

use super::calls::match_turns;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "trajectory_exact_match";

/// The metric `trajectory_exact_match`.
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
