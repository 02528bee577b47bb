use eval_format::Invocation;

use super::judged::not_evaluated;
use crate::agent::BoxError;
use crate::judge::{JudgeError, JudgePrompt, Vote, answer, labels, reasoning, visible_text};
use crate::message::count;
use crate::metric::{Metric, MetricInput, Score, Scores};

pub(super) const NAME: &str = "final_response_match_v2";

/// `final_response_match_v2`: does a judge find the answer to mean the expected one?
///
/// # Range
///
/// 0 or 1 per turn: 1 where most samples find the answer valid, 0 on a tie. The mean over the turns.
///
/// # What is sent
///
/// The user's message and the answer of the expected turn, and the actual answer. With
/// `include_intermediate_responses_in_final` also what was said on the way to the answer, on both sides. Texts marked
/// as `thought` are not sent; ADK's judge takes them for the answer.
///
/// # What is read
///
/// The value of `is_the_agent_response_valid`, else that of `is_the_agent_response_invalid`, with all the liberties that
/// ADK allows: fences, brackets, absent quotes, `almost` and `partially_valid` for invalid. The last one in the reply
/// counts. Where ADK finds no verdict the judge is asked once more; a sample that stays without one does not vote, and
/// where more than half of them do, the turn is not evaluated. Other words under the second key count as *valid* in ADK;
/// here they are no verdict.
///
/// # Edge cases
///
/// Where the case has no expected answer, the turn is not evaluated. ADK lets the judge compare with nothing.
///
/// Source: `FinalResponseMatchV2Evaluator` of google-adk 2.13.0; the prompt is this project's.
#[derive(Debug)]
pub(crate) struct FinalResponseMatchV2;

const TEMPLATE: &str = "final_response_match_v2/1";

impl Metric for FinalResponseMatchV2 {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let with_intermediate = input.criterion.include_intermediate_responses_in_final();
        let prompts: Vec<Option<String>> =
            input.turns().map(|(actual, expected)| prompt(actual, expected, with_intermediate)).collect();
        let asked: Vec<String> = prompts.iter().flatten().cloned().collect();
        let mut votes = input.judging().vote_all(TEMPLATE, &asked, verdict).await.into_iter();
        let mut score = |prompt: Option<String>| match prompt.and_then(|_| votes.next()) {
            Some(vote) => vote.map(|vote| turn(&vote)).or_else(not_evaluated),
            None => Ok(Score::not_evaluated("the case has no `final_response` here to compare with")),
        };
        let scores: Result<Scores, JudgeError> = prompts.into_iter().map(&mut score).collect();
        Ok(scores?)
    }
}

/// What is asked about a turn; nothing where there is nothing to compare with.
fn prompt(actual: &Invocation, expected: Option<&Invocation>, with_intermediate: bool) -> Option<String> {
    let expected = expected.filter(|turn| turn.final_response.is_some())?;
    let prompt = JudgePrompt::new(include_str!("final_response_match_v2.md"))
        .data("request", visible_text(&expected.user_content))
        .data("reference", answer(expected, with_intermediate))
        .data("answer", answer(actual, with_intermediate));
    Some(prompt.render())
}

fn turn(vote: &Vote) -> Score {
    let word = if vote.passed { "valid" } else { "not valid" };
    let samples = count(vote.samples as usize, "sample");
    let note = format!("{} of {samples}: {word}; {}", vote.votes, reasoning(&vote.reply));
    Score::from(vote.passed).note(note)
}

/// Whether a reply finds the answer valid.
fn verdict(reply: &str) -> Result<Option<bool>, String> {
    let (valid, invalid) = ("is_the_agent_response_valid", "is_the_agent_response_invalid");
    let last = |key, read: fn(&str) -> Option<bool>| labels(reply, key).filter_map(read).last();
    let found = if labels(reply, valid).next().is_some() {
        last(valid, is_valid)
    } else {
        last(invalid, is_not_invalid)
    };
    found.map(Some).ok_or_else(|| format!("it has no `\"{valid}\"` that is `\"valid\"` or `\"invalid\"`"))
}

fn is_valid(label: &str) -> Option<bool> {
    match label {
        "valid" | "true" => Some(true),
        "invalid" | "almost" | "false" | "partially_valid" | "partially" => Some(false),
        _ => None,
    }
}

fn is_not_invalid(label: &str) -> Option<bool> {
    match label {
        "invalid" | "true" => Some(false),
        "valid" | "false" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
