use super::conversation_checks::ConversationChecks;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "multi_turn_tool_use_quality_v1";

/// `multi_turn_tool_use_quality_v1`: did the agent use its tools well?
///
/// # Range
///
/// 0 to 1, one score per run: the judge draws up checks of the tool calls that this conversation asked for, and the score
/// is the share that it meets; the mean over samples, rounded once.
///
/// # Criterion
///
/// `judge_model_options`. ADK, which has no such option here, ignores the key.
///
/// # What is sent
///
/// The whole conversation in one question: messages, tool calls with their responses, instructions and tools of the
/// agents. ADK sends the same to Vertex AI's evaluation service; here the configured model judges, by rules that this
/// project wrote down. Scores are on the same scale, but they are not those of Vertex AI.
///
/// # What is read
///
/// The last JSON object with the key `checks`, an array of objects with `check`, `reasoning` and `passes`; not an empty
/// one.
///
/// Source: the scale is that of google-adk 2.13.0, `multi_turn_tool_use_quality_evaluator.py`.
#[derive(Debug)]
pub(crate) struct MultiTurnToolUseQuality;

const CHECKS: ConversationChecks = ConversationChecks {
    template: "multi_turn_tool_use_quality_v1/1",
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
