//! `multi_turn_tool_use_quality_v1` measures how well an agent uses its tools in a conversation, as a judge finds.
//!
//! # Algorithm
//!
//! That of [`conversation_checks`](super::conversation_checks): the judge draws up checks of the whole conversation,
//! and the score is the share of the checks that it finds met.
//!
//! Source: the scale is that of `MultiTurnToolUseQualityV1Evaluator` in `multi_turn_tool_use_quality_evaluator.py` of
//! google-adk 2.13.0; prompt and rules are this project's.
//!
//! # Range
//!
//! 0 to 1, one score for the run.

use super::conversation_checks::ConversationChecks;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "multi_turn_tool_use_quality_v1";

/// The metric `multi_turn_tool_use_quality_v1`.
#[derive(Debug)]
pub(crate) struct MultiTurnToolUseQuality;

const CHECKS: ConversationChecks = ConversationChecks {
    template: "multi_turn_tool_use_quality_v1/2",
    task: "An agent talked with a user. Find out whether it used its tools well. The checks are about tool calls: that the tools that \
           this conversation asked for were called; that none was called without need or against the instructions of the \
           developers; that the arguments were those that the user gave or a tool returned, not made up; that calls which \
           depend on each other came in the right order; that the agent dealt with failed calls; that it used what came back. \
           Where no tool was needed, that none was called is the check. What the agent said does not matter here, as far as \
           it does not depend on a tool.",
};

impl Metric for MultiTurnToolUseQuality {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        CHECKS.score(input).await
    }
}
