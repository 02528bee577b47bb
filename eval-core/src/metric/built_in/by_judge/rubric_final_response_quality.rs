//! `rubric_based_final_response_quality_v1` is the share of the rubrics that an answer meets, as a judge finds.
//!
//! # Algorithm
//!
//! The judge is asked `num_samples` times per turn about all rubrics of the turn. A rubric is met if most
//! samples say yes; a tie is a no. The score of the turn is the share of its rubrics that are met. The
//! overall score is the exact mean over all rubrics of all turns. The criterion's `weights` apply to both.
//!
//! *Rubrics:* from the criterion, then from the case and the turn with the type `FINAL_RESPONSE_QUALITY`.
//! Two rubrics with one id, or a turn without rubrics, make the metric an ERROR before the judge is asked.
//!
//! *Sent per turn:* instructions and tools of the agents, as far as they are known; the user's message; tool calls with
//! their responses; grounding metadata; the answer, with `include_intermediate_responses_in_final` also the texts
//! before it; the rubrics. Thoughts and ids of calls are not sent.
//!
//! *Read per rubric:* the lines `ID:`, `Property:`, `Rationale:` and `Verdict:` with a yes or a no. A rubric
//! is found by its id, else by its text. Contradictory verdicts on a rubric count as none.
//!
//! Source: `RubricBasedFinalResponseQualityV1Evaluator` of google-adk 2.13.0; the prompt is this project's.
//!
//! # Range
//!
//! 0 to 1 per turn.
//!
//! # Differences from ADK
//!
//! * If a sample has no verdict on a rubric, the judge is asked once more. If fewer than half of the samples then have
//!   one, the turn is not evaluated. ADK leaves the rubric out of the mean.
//! * `unknown` is no verdict; in ADK it is a no. `No, eyes` is a no; in ADK it is a yes.
//! * If one sample fails, the others vote; in ADK the turn has no score.
//! * If turns have rubrics of their own, all verdicts count; ADK keeps only the verdicts on the last turn.
//! * Calls without ids are sent with their own responses; ADK sends them with the last response.

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
