//! `rubric_based_tool_use_quality_v1` is the share of the rubrics that the tool calls of a turn meet, as a judge finds.
//!
//! Source: `RubricBasedToolUseV1Evaluator` of google-adk 2.13.0; the prompt is this project's.

use eval_format::Invocation;

use super::rubrics::judge_turns;
use crate::agent::BoxError;
use crate::judge::{JudgePrompt, steps, tools, visible_text};
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "rubric_based_tool_use_quality_v1";

#[derive(Debug)]
pub(crate) struct RubricToolUseQuality;

const TEMPLATE: &str = "rubric_based_tool_use_quality_v1/2";

impl Metric for RubricToolUseQuality {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let prompt = |turn: &Invocation| {
            JudgePrompt::new(include_str!("rubric_tool_use_quality.md"))
                .data("tools", tools(std::slice::from_ref(turn)))
                .data("request", visible_text(&turn.user_content))
                .data("steps", steps(turn))
        };
        judge_turns(input, NAME, TEMPLATE, prompt).await
    }
}
