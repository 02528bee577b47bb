//! Parts shared by the judged metrics.

use std::future::Future;

use eval_format::Invocation;
use eval_support::words::count;

use crate::agent::BoxError;
use crate::judge::{JudgeError, JudgeErrorKind, JudgePrompt, Rating, Vote, answer, visible_text};
use crate::metric::{MetricInput, Score, Scores};

/// Scores each turn with an async function, one after the other. A turn whose replies could not be read is not evaluated.
pub(super) async fn turn_by_turn<'a, F>(
    input: MetricInput<'a>,
    score: impl Fn(&'a Invocation, Option<&'a Invocation>) -> F,
) -> Result<Scores, BoxError>
where
    F: Future<Output = Result<Score, JudgeError>>,
{
    let mut scores = Vec::with_capacity(input.actual.len());
    let turns = input.actual.len();
    for (at, (actual, expected)) in input.turns().enumerate() {
        let score = score(actual, expected).await.or_else(not_evaluated);
        scores.push(score.map_err(|error| error.in_turn(at, turns))?);
    }
    Ok(scores.into_iter().collect())
}

/// The prompt about an answer without its thoughts, and the message before it. The error is the score of a
/// turn without an answer.
pub(super) fn about_answer(template: &'static str, turn: &Invocation) -> Result<String, Score> {
    let answer = answer(turn, false);
    if answer.trim().is_empty() {
        return Err(Score::not_evaluated("the agent said nothing that can be judged"));
    }
    let prompt = JudgePrompt::new(template).data("user_message", visible_text(&turn.user_content));
    Ok(prompt.data("answer", answer).render())
}

/// The score if the judge failed: not evaluated if its replies could not be read. Other errors are returned.
pub(super) fn not_evaluated(error: JudgeError) -> Result<Score, JudgeError> {
    match error.kind() {
        JudgeErrorKind::Unreadable => Ok(Score::not_evaluated(error.to_string())),
        _ => Err(error),
    }
}

/// A note on why a majority said no: `found unsafe by 3 of 5 samples: ..`.
pub(super) fn objection(vote: &Vote, finding: &str, reasoning: &str) -> String {
    format!("{finding} by {} of {}: {reasoning}", vote.votes, count(vote.voters as usize, "sample"))
}

/// The beginning of a note on a mean: `the mean of 4 samples, 1 could not be used; the lowest says: `. Empty
/// if there is a single sample.
pub(super) fn of_samples(rating: &Rating) -> String {
    let mean = format!("the mean of {}", count(rating.voters as usize, "sample"));
    match rating.samples.saturating_sub(rating.voters) {
        0 if rating.samples == 1 => String::new(),
        0 => format!("{mean}; the lowest says: "),
        lost => format!("{mean}, {lost} could not be used; the lowest says: "),
    }
}
