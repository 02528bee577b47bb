use super::conversation_checks::ConversationChecks;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "multi_turn_task_success_v1";

/// `multi_turn_task_success_v1`: did the user get what they came for?
///
/// # Range
///
/// 0 to 1, one score per run: the judge draws up checks of what the user wanted, and the score is the share that the
/// conversation meets; the mean over samples, rounded once.
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
/// Source: the scale is that of google-adk 2.13.0, `multi_turn_task_success_evaluator.py`.
#[derive(Debug)]
pub(crate) struct MultiTurnTaskSuccess;

const CHECKS: ConversationChecks = ConversationChecks {
    template: "multi_turn_task_success_v1/1",
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
