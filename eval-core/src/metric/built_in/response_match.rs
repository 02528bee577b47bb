//! `response_match_score` measures how many words the answer and the expected answer share.
//!
//! Source: `RougeEvaluator` in `final_response_match_v1.py` of google-adk 2.13.0, with the package `rouge-score`.

use eval_format::{Criterion, Invocation};

use super::answers::note_thought_parts;
use crate::metric::Score;
use crate::score::rouge::{RougeText, rouge_1};
use crate::score::tokenize::has_words;

pub(super) const NAME: &str = "response_match_score";

pub(super) fn turn(actual: &Invocation, expected: Option<&Invocation>, _: &Criterion) -> Score {
    let expected_text = expected.map(Invocation::response_text).unwrap_or_default();
    let actual_text = actual.response_text();
    // Agents that are scripted or replayed often give exactly the expected answer. Then all words are shared.
    let (fmeasure, has_words) = if actual_text == expected_text {
        let has_words = has_words(&expected_text);
        (f64::from(u8::from(has_words)), has_words)
    } else {
        let reference = RougeText::new(&expected_text);
        let fmeasure = rouge_1(&reference, &RougeText::new(&actual_text)).fmeasure;
        (fmeasure, reference.tokens.len() > 0)
    };
    let score = Score::from(fmeasure);
    if expected.is_none_or(|turn| turn.final_response.is_none()) {
        return score.note(
            "the case has no expected answer (`final_response`) in this turn, so any answer scores 0.0, as in ADK",
        );
    }
    if expected_text.is_empty() {
        return score
            .note("the expected answer is empty; as in ADK, an empty text scores 0.0 against any answer");
    }
    if !has_words {
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
        let found = turn(&Invocation::user("q").response(actual), Some(&turn_expected), &Criterion::new(1.0));
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
        check(None, "anything", 0.0, "no expected answer (`final_response`)");
    }

    /// Run in google-adk 2.13.0, which compares all of these as an empty text.
    #[test]
    fn an_expected_answer_that_is_null_absent_or_empty_scores_0_as_in_adk() {
        for answer in [r#", "final_response": null"#, "", r#", "final_response": {}"#] {
            let expected = format!(r#"{{"user_content": {{"parts": [{{"text": "q"}}]}}{answer}}}"#);
            let expected = Invocation::parse(&expected).unwrap();
            for actual in [Invocation::user("q").response("anything"), Invocation::user("q")] {
                let score = turn(&actual, Some(&expected), &Criterion::new(0.8));
                assert_eq!(score.value(), Some(0.0), "{answer} {actual:?}");
            }
        }
    }
}
