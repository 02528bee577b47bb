use eval_format::Invocation;

use super::rubrics::{Question, effective, judge};
use crate::agent::BoxError;
use crate::judge::{JudgePrompt, rubrics, steps, tools, visible_text};
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "rubric_based_tool_use_quality_v1";

/// `rubric_based_tool_use_quality_v1`: which share of the rubrics do the tool calls meet?
///
/// # Range
///
/// 0 to 1 per turn, as `rubric_based_final_response_quality_v1`, with rubrics of the type `TOOL_USE_QUALITY`.
///
/// # What is sent
///
/// Per turn: the tools as far as they are known, the user's message, the tool calls with their responses, the rubrics.
/// The answer is not.
///
/// # What is read
///
/// As in `rubric_based_final_response_quality_v1`, with the same differences from ADK.
///
/// Source: `RubricBasedToolUseV1Evaluator` of google-adk 2.13.0; the prompt is this project's.
#[derive(Debug)]
pub(crate) struct RubricToolUseQuality;

const TYPE: &str = "TOOL_USE_QUALITY";
const TEMPLATE: &str = "rubric_based_tool_use_quality_v1/1";

impl Metric for RubricToolUseQuality {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let questions: Result<Vec<Question>, BoxError> =
            input.actual.iter().map(|turn| question(input, turn)).collect();
        judge(input, TEMPLATE, questions?).await
    }
}

fn question(input: MetricInput<'_>, turn: &Invocation) -> Result<Question, BoxError> {
    let properties = effective(input, turn, TYPE)?;
    let prompt = JudgePrompt::new(include_str!("rubric_tool_use_quality.md"))
        .data("tools", tools(std::slice::from_ref(turn)))
        .data("request", visible_text(&turn.user_content))
        .data("steps", steps(turn))
        .data("properties", rubrics(&properties));
    Ok(Question { prompt: prompt.render(), rubrics: properties })
}
