//! `multi_turn_trajectory_quality_v1` measures how good the steps of an agent in a conversation are, as a judge finds.
//!
//! # Algorithm
//!
//! That of [`conversation_checks`](super::conversation_checks): the judge draws up checks of the whole conversation,
//! and the score is the share of the checks that it finds met.
//!
//! Source: the scale is that of `MultiTurnTrajectoryQualityV1Evaluator` in `multi_turn_trajectory_quality_evaluator.py`
//! of google-adk 2.13.0; prompt and rules are this project's.
//!
//! # Range
//!
//! 0 to 1, one score for the run.

use super::conversation_checks::ConversationChecks;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "multi_turn_trajectory_quality_v1";

/// The metric `multi_turn_trajectory_quality_v1`.
#[derive(Debug)]
pub(crate) struct MultiTurnTrajectoryQuality;

const CHECKS: ConversationChecks = ConversationChecks {
    template: "multi_turn_trajectory_quality_v1/2",
    task: "An agent talked with a user. Find out whether it took a good way to what the user wanted. The checks are about the steps: \
           that the agent did what was needed, in a sensible order; that it asked for what it had to know, and only for that; \
           that it remembered what was said before and did not repeat itself; that it noticed its mistakes and put them \
           right; that it followed the instructions of its developers on the way; that it ended where there was nothing left \
           to do. Whether the goal was reached in the end does not matter here.",
};

impl Metric for MultiTurnTrajectoryQuality {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        CHECKS.score(input).await
    }
}
