//! `response_similarity` measures how alike the answer and the expected answer are, by the criterion's `algorithm`.
//!
//! Source: adk-eval 2.3.0 for names and defaults; its `contains` is symmetric, and its ROUGE has another tokenizer. The
//! Python package `rouge-score` 0.1.2 for ROUGE.

use std::borrow::Cow;

use eval_format::{Criterion, Invocation, Similarity};
use eval_support::words::count;

use super::answers::{expected_text, note_thought_parts};
use crate::metric::Score;
use crate::score::rouge::{RougeText, rouge_1, rouge_2, rouge_l};
use crate::score::similarity::{Share, jaccard, levenshtein};
use crate::score::tokenize::tokens;

pub(super) const NAME: &str = "response_similarity";

pub(crate) fn turn(actual: &Invocation, expected: Option<&Invocation>, criterion: &Criterion) -> Score {
    let expected = match expected_text(expected) {
        Ok(text) if text.trim().is_empty() => {
            return Score::not_evaluated("the expected answer is blank, so there is nothing to compare with");
        }
        Ok(text) => text,
        Err(unscored) => return unscored,
    };
    let answer = actual.response_text();
    let score = match criterion.algorithm() {
        // Their tokenizer ignores case and white space, so `prepared` would change nothing.
        algorithm @ (Similarity::Rouge1 | Similarity::Rouge2 | Similarity::RougeL) => {
            by_rouge(&expected, &answer, algorithm)
        }
        algorithm => by_text(&prepared(&expected, criterion), &prepared(&answer, criterion), algorithm),
    };
    note_thought_parts(score, actual)
}

/// The text as it is compared: in lower case and with single blanks, if the criterion says so.
fn prepared<'a>(text: &'a str, criterion: &Criterion) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    if criterion.ignore_case() {
        text = Cow::Owned(text.to_lowercase());
    }
    if criterion.normalize() {
        text = Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    text
}

fn by_text(expected: &str, actual: &str, algorithm: Similarity) -> Score {
    match algorithm {
        Similarity::Exact => Score::from(expected == actual),
        Similarity::Contains => Score::from(actual.contains(expected)),
        Similarity::Levenshtein => match levenshtein(expected, actual) {
            Some(Share { part, whole }) => share(Share { part, whole }, || {
                format!("{} for a text of {}", count(whole - part, "edit"), count(whole, "character"))
            }),
            None => too_long(algorithm),
        },
        _ => {
            let Share { part, whole } = jaccard(expected, actual);
            share(Share { part, whole }, || {
                format!("{part} of {} in both texts", count(whole, "different word"))
            })
        }
    }
}

/// A share as a score, with a note on its parts if it is below 1.
fn share(share: Share, parts: impl Fn() -> String) -> Score {
    let score = Score::from(share.value());
    if share.part == share.whole { score } else { score.note(parts()) }
}

fn by_rouge(expected: &str, actual: &str, algorithm: Similarity) -> Score {
    let (rouge, words) = match algorithm {
        Similarity::Rouge2 => {
            let expected = tokens(expected);
            (Some(rouge_2(&expected, &tokens(actual))), expected.len())
        }
        Similarity::RougeL => {
            let expected = tokens(expected);
            (rouge_l(&expected, &tokens(actual)), expected.len())
        }
        _ => {
            let expected = RougeText::new(expected);
            (Some(rouge_1(&expected, &RougeText::new(actual))), expected.tokens.len())
        }
    };
    let Some(rouge) = rouge else { return too_long(algorithm) };
    let score = Score::from(rouge.fmeasure);
    match words {
        0 => score.note(
            "the expected answer has no words (only punctuation, symbols or emoji), so ROUGE scores it 0.0",
        ),
        1 if algorithm == Similarity::Rouge2 => score.note(
            "the expected answer is a single word, which has no pairs of neighbours: `rouge_2` scores 0.0",
        ),
        _ => score,
    }
}

fn too_long(algorithm: Similarity) -> Score {
    let name = algorithm.as_str();
    Score::not_evaluated(format!(
        "the texts are too long for `{name}`; `jaccard` and `rouge_1` have no limit"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::of_function;
    use crate::metric::tests::computed::{answering, check_texts, compare};

    fn by(algorithm: Similarity) -> Criterion {
        Criterion::new(1.0).with_algorithm(algorithm)
    }

    fn check(algorithm: Similarity, expected: &str, actual: &str, score: f64) {
        check_texts(&of_function(turn), &by(algorithm), Some(expected), actual, Some(score));
    }

    #[test]
    fn exact_texts_are_equal() {
        check(Similarity::Exact, "It is  sunny\n", "it IS sunny", 1.0);
        check(Similarity::Exact, "sunny", "It is sunny", 0.0);
        check(Similarity::Exact, "👍🏽", "👍🏽", 1.0);
        check(Similarity::Exact, "é", "e\u{301}", 0.0);
    }

    #[test]
    fn an_answer_contains_the_expected_text_and_not_the_other_way_round() {
        check(Similarity::Contains, "sunny", "It is Sunny in Paris.", 1.0);
        check(Similarity::Contains, "It is sunny in Paris.", "a", 0.0);
        check(Similarity::Contains, "in  Paris", "sunny in\nParis", 1.0);
        check(Similarity::Contains, "👍", "ok 👍🏽", 1.0);
        check(Similarity::Contains, "sunny", "", 0.0);
    }

    #[test]
    fn edits_words_and_sequences_are_counted() {
        check(Similarity::Levenshtein, "kitten", "Sitting", 4.0 / 7.0);
        check(Similarity::Levenshtein, "東京", "", 0.0);
        check(Similarity::Jaccard, "The answer is 42.", "the answer is 42!", 0.6);
        check(Similarity::Jaccard, "a a a", "A", 1.0);
        check(Similarity::Rouge1, "running quickly", "run quick", 0.5);
        check(Similarity::Rouge2, "The dog bit the man", "The man bit the dog", 0.75);
        check(Similarity::RougeL, "The dog bit the man", "The man bit the dog", 0.6);
    }

    #[test]
    fn case_and_white_space_count_where_asked_for() {
        for algorithm in [Similarity::Exact, Similarity::Contains] {
            let strict = by(algorithm).with_ignore_case(false);
            check_texts(&of_function(turn), &strict, Some("Sunny"), "sunny", Some(0.0));
            check_texts(&of_function(turn), &strict, Some("sunny  day"), "sunny day", Some(1.0));
            let strict = by(algorithm).with_normalize(false);
            check_texts(&of_function(turn), &strict, Some("Sunny"), "sunny", Some(1.0));
            check_texts(&of_function(turn), &strict, Some("sunny  day"), "sunny day", Some(0.0));
        }
        let strict = by(Similarity::Levenshtein).with_ignore_case(false).with_normalize(false);
        check_texts(&of_function(turn), &strict, Some("A  b"), "a b", Some(0.5));
        let strict = by(Similarity::Jaccard).with_ignore_case(false);
        check_texts(&of_function(turn), &strict, Some("A b"), "a b", Some(1.0 / 3.0));
    }

    #[test]
    fn nothing_to_compare_with_is_not_evaluated() {
        for algorithm in [Similarity::Exact, Similarity::Contains, Similarity::Jaccard, Similarity::Rouge1] {
            for expected in [None, Some(""), Some(" \n")] {
                check_texts(&of_function(turn), &by(algorithm), expected, "anything", None);
                check_texts(&of_function(turn), &by(algorithm), expected, "", None);
            }
        }
    }

    #[test]
    fn what_surprises_is_explained() {
        let long = ["a".repeat(20_000), "b".repeat(20_000)];
        for (algorithm, expected, actual, note) in [
            (Similarity::Jaccard, "a b", "a c", "1 of 3 different words in both texts"),
            (Similarity::Levenshtein, "abc", "abd", "1 edit for a text of 3 characters"),
            (Similarity::RougeL, "👍", "👍", "no words"),
            (Similarity::Rouge2, "yes", "yes", "single word"),
            (Similarity::Levenshtein, &long[0], &long[1], "too long for `levenshtein`"),
        ] {
            let scores =
                compare(&of_function(turn), &[answering(expected)], &[answering(actual)], &by(algorithm));
            let score = &scores.scores()[0];
            let said = score.notes().first().map(String::as_str).or(score.reason());
            assert!(said.is_some_and(|said| said.contains(note)), "{score:?}");
        }
    }

    #[test]
    fn what_does_not_surprise_is_not_explained() {
        for (algorithm, expected, actual) in [
            (Similarity::Jaccard, "a b", "b a"),
            (Similarity::Levenshtein, "abc", "abc"),
            (Similarity::Rouge1, "yes", "no"),
            (Similarity::RougeL, "yes", "yes"),
            (Similarity::Rouge2, "yes it is", "no"),
        ] {
            let scores =
                compare(&of_function(turn), &[answering(expected)], &[answering(actual)], &by(algorithm));
            assert_eq!(scores.scores()[0].notes(), [""; 0], "{algorithm:?}");
        }
    }
}
