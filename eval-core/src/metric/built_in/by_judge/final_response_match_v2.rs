//! `final_response_match_v2` is 1 for a turn whose answer means the expected answer, as a judge finds, else 0.
//!
//! Source: `FinalResponseMatchV2Evaluator` in `final_response_match_v2.py` of google-adk 2.13.0; the prompt is this
//! project's.
//!
//! All forms of a verdict that ADK accepts are accepted: code fences, brackets, absent quotes, and `almost` and
//! `partially_valid` for invalid. An unknown word under `is_the_agent_response_invalid` is no verdict; in ADK it means
//! *valid*.

use eval_format::Invocation;
use eval_support::words::count;

use super::judged::not_evaluated;
use crate::agent::BoxError;
use crate::judge::reply_text::{self, Key, Unclear, word};
use crate::judge::{JudgeError, JudgePrompt, Vote, answer, reasoning, visible_text};
use crate::metric::{Metric, MetricInput, Score, Scores};

pub(super) const NAME: &str = "final_response_match_v2";

pub(crate) struct FinalResponseMatchV2;

const TEMPLATE: &str = "final_response_match_v2/2";

impl Metric for FinalResponseMatchV2 {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let with_intermediate = input.criterion.include_intermediate_responses_in_final();
        let prompts: Vec<Option<String>> =
            input.turns().map(|(actual, expected)| prompt(actual, expected, with_intermediate)).collect();
        let asked: Vec<String> = prompts.iter().flatten().cloned().collect();
        let mut votes = input.judging().vote_all(TEMPLATE, &asked, verdict).await.into_iter();
        let mut score = |prompt: Option<String>| match prompt.and_then(|_| votes.next()) {
            Some(vote) => vote.map(|vote| turn(&vote)).or_else(not_evaluated),
            None => Ok(Score::not_evaluated(
                "the case has no `final_response` with text for this turn to compare with",
            )),
        };
        let turns = prompts.len();
        let in_turn = |(at, prompt)| score(prompt).map_err(|error| error.in_turn(at, turns));
        let scores: Result<Scores, JudgeError> = prompts.into_iter().enumerate().map(in_turn).collect();
        Ok(scores?)
    }
}

/// The prompt about a turn; `None` if the case has no expected answer with text for it.
fn prompt(actual: &Invocation, expected: Option<&Invocation>, with_intermediate: bool) -> Option<String> {
    let expected = expected.filter(|turn| turn.final_response.is_some())?;
    let reference = answer(expected, with_intermediate);
    if reference.trim().is_empty() {
        return None;
    }
    let prompt = JudgePrompt::new(include_str!("final_response_match_v2.md"))
        .data("request", visible_text(&expected.user_content))
        .data("reference", reference)
        .data("answer", answer(actual, with_intermediate));
    Some(prompt.render())
}

fn turn(vote: &Vote) -> Score {
    let word = if vote.passed { "valid" } else { "not valid" };
    let samples = count(vote.samples as usize, "sample");
    let note = format!("{} of {samples}: {word}; {}", vote.votes, reasoning(&vote.reply));
    Score::from(vote.passed).note(note)
}

fn verdict(reply: &str, prompt: &str) -> Result<Option<bool>, String> {
    let key = |name, verdict| Key { name, label: word, verdict };
    let keys = [key(VALID, is_valid), key("is_the_agent_response_invalid", is_not_invalid)];
    reply_text::verdict(reply, prompt, &keys).map(Some).map_err(|unclear| match unclear {
        Unclear::Wrong(wrong) => wrong,
        Unclear::Nothing(_) => format!("it has no `\"{VALID}\"` that is `\"valid\"` or `\"invalid\"`"),
    })
}

const VALID: &str = "is_the_agent_response_valid";

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
