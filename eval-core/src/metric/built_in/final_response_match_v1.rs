//! `final_response_match_v1` is the share of the expected words that the answer has.
//!
//! Source: adk-rs 0.6.0. The file `final_response_match_v1.py` of google-adk is another metric, `response_match_score`.

use std::collections::HashSet;

use eval_format::{Criterion, Invocation};

use super::answers::{expected_text, note_thought_parts};
use crate::metric::Score;
use crate::score::similarity::Share;

pub(super) const NAME: &str = "final_response_match_v1";

pub(super) fn turn(actual: &Invocation, expected: Option<&Invocation>, _: &Criterion) -> Score {
    let expected = match expected_text(expected) {
        Ok(text) => text.to_lowercase(),
        Err(unscored) => return unscored,
    };
    let answer = actual.response_text().to_lowercase();
    let words: HashSet<&str> = answer.split_whitespace().collect();
    let found = expected.split_whitespace().filter(|word| words.contains(word)).count();
    let share = Share { part: found, whole: expected.split_whitespace().count() };
    if share.part == share.whole {
        return Score::from(1.0);
    }
    let note = format!("{} of {} expected words are in the answer", share.part, share.whole);
    note_thought_parts(Score::from(share.value()).note(note), actual)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::of_function;
    use crate::metric::tests::computed::check_texts;
    use eval_format::Criterion;

    #[test]
    fn expected_words_are_looked_for_in_the_answer() {
        for (expected, actual, score) in [
            ("The cat sat on the mat.", "the cat sat on the mat", Some(5.0 / 6.0)),
            ("running quickly", "run quick", Some(0.0)),
            ("paris", "paris is the capital of france", Some(1.0)),
            ("the the the", "the", Some(1.0)),
            ("the the cat", "cat", Some(1.0 / 3.0)),
            ("a b c d", "a b", Some(0.5)),
            ("東京は", "東京は", Some(1.0)),
            ("👍 ÉTÉ", "été 👍", Some(1.0)),
            ("", "anything", Some(1.0)),
            (" \n", "", Some(1.0)),
            ("word", "", Some(0.0)),
        ] {
            check_texts(&of_function(turn), &Criterion::new(1.0), Some(expected), actual, score);
        }
        check_texts(&of_function(turn), &Criterion::new(1.0), None, "anything", None);
    }
}
