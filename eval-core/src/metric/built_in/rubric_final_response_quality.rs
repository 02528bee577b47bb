use eval_format::Invocation;

use super::rubrics::{Question, effective, judge};
use crate::agent::BoxError;
use crate::judge::{JudgePrompt, answer, grounding, instructions, rubrics, steps, tools, visible_text};
use crate::metric::{Metric, MetricInput, Scores};

pub(super) const NAME: &str = "rubric_based_final_response_quality_v1";

/// `rubric_based_final_response_quality_v1`: which share of the rubrics does the answer meet?
///
/// # Range
///
/// 0 to 1 per turn: the rubrics that most samples find met, per rubric; a tie is a no. The overall score is the mean
/// over all rubrics of all turns. `weights` of the criterion weighs both means.
///
/// # Rubrics
///
/// Those of the criterion, then those of the case and of the turn with the type `FINAL_RESPONSE_QUALITY`. Two with one
/// id, and a turn without any, are errors before anything runs.
///
/// # What is sent
///
/// Per turn: the agents' instructions and tools as far as they are known, the user's message, the tool calls with
/// their responses, grounding metadata, the answer (with `include_intermediate_responses_in_final` also what was said
/// on the way to it), the rubrics. Thoughts and ids of calls are not sent.
///
/// # What is read
///
/// Per rubric `ID:`, `Property:`, `Rationale:` and `Verdict:` with a yes or a no, each on its line; by the id, else by
/// the text. The last verdict on a rubric counts.
///
/// # What ADK does otherwise
///
/// Where a sample passes over a rubric, the judge is asked once more; where then fewer than half of the samples have a
/// verdict on it, the turn is not evaluated. ADK leaves the rubric out of the mean. `unknown` is no verdict here and a
/// no in ADK; `No, eyes` is a no here and a yes in ADK. One sample that fails voids the turn in ADK; here the others
/// vote. Where turns have rubrics of their own, ADK forgets the verdicts on all turns but the last. Calls without ids
/// are shown with their own responses; in ADK with the last one.
///
/// Source: `RubricBasedFinalResponseQualityV1Evaluator` of google-adk 2.13.0; the prompt is this project's.
#[derive(Debug)]
pub(crate) struct RubricFinalResponseQuality;

const TYPE: &str = "FINAL_RESPONSE_QUALITY";
const TEMPLATE: &str = "rubric_based_final_response_quality_v1/1";

impl Metric for RubricFinalResponseQuality {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let questions: Result<Vec<Question>, BoxError> =
            input.actual.iter().map(|turn| question(input, turn)).collect();
        judge(input, TEMPLATE, questions?).await
    }
}

fn question(input: MetricInput<'_>, turn: &Invocation) -> Result<Question, BoxError> {
    let properties = effective(input, turn, TYPE)?;
    let with_intermediate = input.criterion.include_intermediate_responses_in_final();
    let prompt = JudgePrompt::new(include_str!("rubric_final_response_quality.md"))
        .data("instructions", instructions(std::slice::from_ref(turn)))
        .data("tools", tools(std::slice::from_ref(turn)))
        .data("request", visible_text(&turn.user_content))
        .data("steps", steps(turn))
        .data("grounding", grounding(turn))
        .data("answer", answer(turn, with_intermediate))
        .data("properties", rubrics(&properties));
    Ok(Question { prompt: prompt.render(), rubrics: properties })
}
