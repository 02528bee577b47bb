//! `rubric_based_final_response_quality_v1`, `rubric_based_tool_use_quality_v1` and
//! `rubric_based_multi_turn_trajectory_quality_v1` are the share of the rubrics that an answer, the tool calls of a turn,
//! and the conversation meet, as a judge finds. The rubrics on the conversation are of the case or of the last turn.
//!
//! Source: `RubricBasedFinalResponseQualityV1Evaluator`, `RubricBasedToolUseV1Evaluator` and
//! `RubricBasedMultiTurnTrajectoryEvaluator` of google-adk 2.13.0; the prompts are this project's.

use std::slice::from_ref;

use eval_format::Invocation;

use super::rubrics::{Question, effective, judge, judge_turns};
use crate::agent::BoxError;
use crate::judge::{JudgePrompt, answer, dialogue, grounding, instructions, steps, tools, visible_text};
use crate::metric::{Metric, MetricInput, Score, Scores};

pub(super) const FINAL_RESPONSE_QUALITY: &str = "rubric_based_final_response_quality_v1";
pub(super) const TOOL_USE_QUALITY: &str = "rubric_based_tool_use_quality_v1";
pub(super) const MULTI_TURN_TRAJECTORY: &str = "rubric_based_multi_turn_trajectory_quality_v1";

pub(crate) struct RubricFinalResponseQuality;
pub(crate) struct RubricToolUseQuality;
pub(crate) struct RubricMultiTurnTrajectory;

impl Metric for RubricFinalResponseQuality {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let with_intermediate = input.criterion.include_intermediate_responses_in_final();
        let prompt = |turn: &Invocation| {
            JudgePrompt::new(include_str!("rubric_final_response_quality.md"))
                .data("instructions", instructions(from_ref(turn)))
                .data("tools", tools(from_ref(turn)))
                .data("request", visible_text(&turn.user_content))
                .data("steps", steps(turn))
                .data("grounding", grounding(turn))
                .data("answer", answer(turn, with_intermediate))
        };
        judge_turns(input, FINAL_RESPONSE_QUALITY, "rubric_based_final_response_quality_v1/2", prompt).await
    }
}

impl Metric for RubricToolUseQuality {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let prompt = |turn: &Invocation| {
            JudgePrompt::new(include_str!("rubric_tool_use_quality.md"))
                .data("tools", tools(from_ref(turn)))
                .data("request", visible_text(&turn.user_content))
                .data("steps", steps(turn))
        };
        judge_turns(input, TOOL_USE_QUALITY, "rubric_based_tool_use_quality_v1/2", prompt).await
    }
}

impl Metric for RubricMultiTurnTrajectory {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let Some(last) = input.actual.last() else {
            return Ok(Scores::whole_run(Score::not_evaluated("the conversation has no turns")));
        };
        let properties = effective(input, last, MULTI_TURN_TRAJECTORY)?;
        let prompt = JudgePrompt::new(include_str!("rubric_multi_turn_trajectory.md"))
            .data("instructions", instructions(input.actual))
            .data("tools", tools(input.actual))
            .data("dialogue", dialogue(input.actual));
        let questions = vec![Question::new(prompt, properties)];
        let scores = judge(input, "rubric_based_multi_turn_trajectory_quality_v1/2", questions).await?;
        // One question, one score.
        let score = scores.scores().first().cloned();
        Ok(Scores::whole_run(score.unwrap_or_else(|| Score::not_evaluated("nothing was asked"))))
    }
}
