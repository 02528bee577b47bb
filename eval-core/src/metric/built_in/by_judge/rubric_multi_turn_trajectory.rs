//! `rubric_based_multi_turn_trajectory_quality_v1` is the share of the rubrics that the conversation meets, as a judge
//! finds. Its rubrics are of the case or of the last turn.
//!
//! Source: `RubricBasedMultiTurnTrajectoryEvaluator` of google-adk 2.13.0; the prompt is this project's.

use super::rubrics::{Question, effective, judge};
use crate::agent::BoxError;
use crate::judge::{JudgePrompt, dialogue, instructions, tools};
use crate::metric::{Metric, MetricInput, Score, Scores};

pub(super) const NAME: &str = "rubric_based_multi_turn_trajectory_quality_v1";

#[derive(Debug)]
pub(crate) struct RubricMultiTurnTrajectory;

const TEMPLATE: &str = "rubric_based_multi_turn_trajectory_quality_v1/2";

impl Metric for RubricMultiTurnTrajectory {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let Some(last) = input.actual.last() else {
            return Ok(Scores::whole_run(Score::not_evaluated("the conversation has no turns")));
        };
        let properties = effective(input, last, NAME)?;
        let prompt = JudgePrompt::new(include_str!("rubric_multi_turn_trajectory.md"))
            .data("instructions", instructions(input.actual))
            .data("tools", tools(input.actual))
            .data("dialogue", dialogue(input.actual));
        let scores = judge(input, TEMPLATE, vec![Question::new(prompt, properties)]).await?;
        // One question, one score.
        let score = scores.scores().first().cloned();
        Ok(Scores::whole_run(score.unwrap_or_else(|| Score::not_evaluated("nothing was asked"))))
    }
}
