//! `rubric_based_final_response_quality_v1` is the share of the rubrics that an answer meets, as a judge finds.
//!
//! Source: `RubricBasedFinalResponseQualityV1Evaluator` of google-adk 2.13.0; the prompt is this project's.

use eval_format::Invocation;

use super::rubrics::judge_turns;
use crate::agent::BoxError;
use crate::judge::{JudgePrompt, answer, grounding, instructions, steps, tools, visible_text};
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "rubric_based_final_response_quality_v1";

#[derive(Debug)]
pub(crate) struct RubricFinalResponseQuality;

const TEMPLATE: &str = "rubric_based_final_response_quality_v1/2";

impl Metric for RubricFinalResponseQuality {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let with_intermediate = input.criterion.include_intermediate_responses_in_final();
        let prompt = |turn: &Invocation| {
            JudgePrompt::new(include_str!("rubric_final_response_quality.md"))
                .data("instructions", instructions(std::slice::from_ref(turn)))
                .data("tools", tools(std::slice::from_ref(turn)))
                .data("request", visible_text(&turn.user_content))
                .data("steps", steps(turn))
                .data("grounding", grounding(turn))
                .data("answer", answer(turn, with_intermediate))
        };
        judge_turns(input, NAME, TEMPLATE, prompt).await
    }
}
