//! `multi_turn_task_success_v1` is the share of the user's goals that a conversation reaches, as a judge finds.
//!
//! # Algorithm
//!
//! That of [`conversation_checks`](super::conversation_checks): the judge draws up checks of the whole conversation,
//! and the score is the share of the checks that it finds met.
//!
//! Source: the scale is that of `MultiTurnTaskSuccessV1Evaluator` in `multi_turn_task_success_evaluator.py` of
//! google-adk 2.13.0; prompt and rules are this project's.
//!
//! # Range
//!
//! 0 to 1, one score for the run.

use super::conversation_checks::ConversationChecks;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "multi_turn_task_success_v1";

/// The metric `multi_turn_task_success_v1`.
#[derive(Debug)]
pub(crate) struct MultiTurnTaskSuccess;

const CHECKS: ConversationChecks = ConversationChecks {
    template: "multi_turn_task_success_v1/2",
    task: "An agent talked with a user. Find out whether the user got what they came for. The checks are about the goals of the user, \
           said or plainly meant, in the whole conversation: for each goal that it was reached in the end, with every \
           condition that the user set. A goal that the agent rightly declined, because its instructions forbid it, is no \
           goal; that it was declined clearly is a check. How the agent went about it does not matter here.",
};

impl Metric for MultiTurnTaskSuccess {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        CHECKS.score(input).await
    }
}
