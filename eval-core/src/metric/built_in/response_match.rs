use eval_format::Invocation;

use super::answers::note_thought_parts;
use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::rouge::{RougeText, rouge_1};

pub(super) const NAME: &str = "response_match_score";

/// `response_match_score`: how much of the expected answer is in the actual one, and the other way round.
///
/// # Range
///
/// 0 to 1 per turn: the F1 of ROUGE-1, over stemmed words of Unicode text.
///
/// # What is compared
///
/// The texts of the parts of both final responses, joined with line breaks; texts marked as `thought` are included,
/// as in ADK. Word order and negation do not count; punctuation and emoji are no words, so two answers of nothing
/// but emoji score 0.0. No expected answer is compared as an empty text: 0.0.
///
/// Source: `final_response_match_v1.py` of google-adk 2.13.0.
#[derive(Debug)]
pub(crate) struct ResponseMatch;

impl Metric for ResponseMatch {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(input.score_turns(&turn))
    }
}

fn turn(actual: &Invocation, expected: Option<&Invocation>) -> Score {
    let expected_text = expected.map(Invocation::response_text).unwrap_or_default();
    let actual_text = actual.response_text();
    let (reference, candidate) = (RougeText::new(&expected_text), RougeText::new(&actual_text));
    let score = Score::from(rouge_1(&reference, &candidate).fmeasure);
    if expected.is_none_or(|turn| turn.final_response.is_none()) {
        return score.note("the case has no `final_response` here, which ADK compares as an empty text: 0.0");
    }
    if expected_text.is_empty() {
        return score
            .note("the expected answer is empty, and ADK scores an empty text 0.0 whatever the answer");
    }
    if reference.tokens().len() == 0 {
        return score.note(
            "the expected answer has no words (only punctuation, symbols or emoji), so ADK scores it 0.0",
        );
    }
    note_thought_parts(score, actual)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: Option<&str>, actual: &str, score: f64, note: &str) {
        let mut turn_expected = Invocation::user("q");
        if let Some(text) = expected {
            turn_expected = turn_expected.response(text);
        }
        let found = turn(&Invocation::user("q").response(actual), Some(&turn_expected));
        assert_eq!(found.value(), Some(score), "{expected:?} {actual:?}");
        assert!(found.notes().concat().contains(note), "{found:?}");
        assert_eq!(found.notes().is_empty(), note.is_empty(), "{found:?}");
    }

    #[test]
    fn scores_are_adks_and_surprises_are_explained() {
        check(Some("Hello world"), "hello WORLD", 1.0, "");
        check(
            Some("Your order number 42 ships next Monday morning"),
            "Order number 42 ships Monday morning okay",
            0.799_999_999_999_999_9,
            "",
        );
        check(Some("👍"), "👍", 0.0, "no words");
        check(Some(""), "", 0.0, "empty");
        check(None, "anything", 0.0, "no `final_response`");
    }
}
