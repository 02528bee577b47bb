//! Parts shared by the metrics that compare answers.

use eval_format::{Content, Invocation};

use crate::metric::Score;

/// The expected answer of a turn, or the score of a turn without one: not evaluated.
pub(super) fn expected_text(expected: Option<&Invocation>) -> Result<String, Score> {
    match expected.filter(|turn| turn.final_response.is_some()) {
        Some(turn) => Ok(turn.response_text()),
        None => Err(Score::not_evaluated("the case has no `final_response` for this turn to compare with")),
    }
}

/// Adds a note to a score below 1 if the answer has parts that are marked as `thought`, which the user does not see.
pub(super) fn note_thought_parts(score: Score, actual: &Invocation) -> Score {
    let parts = actual.final_response.iter().flat_map(Content::parts);
    if score.value() == Some(1.0) || !parts.into_iter().any(|part| part.thought == Some(true)) {
        return score;
    }
    score.note("text marked as `thought` counts as part of the answer, as in ADK")
}
