//! What the metrics over answers share.

use eval_format::{Content, Invocation};

use crate::metric::Score;

/// The expected answer of a turn; where the case has none, a turn cannot be scored.
pub(super) fn expected_text(expected: Option<&Invocation>) -> Result<String, Score> {
    match expected.filter(|turn| turn.final_response.is_some()) {
        Some(turn) => Ok(turn.response_text()),
        None => Err(Score::not_evaluated("the case has no `final_response` here to compare with")),
    }
}

/// Adds to a low score that the answer holds what the user does not see.
pub(super) fn note_thought_parts(score: Score, actual: &Invocation) -> Score {
    let parts = actual.final_response.iter().flat_map(Content::parts);
    if score.value() == Some(1.0) || !parts.into_iter().any(|part| part.thought == Some(true)) {
        return score;
    }
    score.note("the answer holds text marked as `thought`, which counts as part of it, as in ADK")
}
