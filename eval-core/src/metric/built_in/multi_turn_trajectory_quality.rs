use super::conversation_checks::ConversationChecks;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "multi_turn_trajectory_quality_v1";

/// `multi_turn_trajectory_quality_v1`: did the agent take a good way to the goal?
///
/// # Range
///
/// 0 to 1, one score per run: the judge draws up checks of the steps that this conversation asked for, and the score is
/// the share that it meets; the mean over samples, rounded once.
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
/// Source: the scale is that of google-adk 2.13.0, `multi_turn_trajectory_quality_evaluator.py`.
#[derive(Debug)]
pub(crate) struct MultiTurnTrajectoryQuality;

const CHECKS: ConversationChecks = ConversationChecks {
    template: "multi_turn_trajectory_quality_v1/1",
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
