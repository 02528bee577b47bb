//! ROUGE, and the algorithms of `response_similarity`.

use eval_core::fuzzing::{response_similarity, rouge_1, rouge_2, rouge_l};
use eval_format::{Criterion, Similarity};

use crate::naive::overlap;
use crate::words::words;

/// The length at which a text is cut. The tables of the naive functions are quadratic, and many short texts find more
/// than a few long ones.
const MOST_BYTES: usize = 200;

/// One of ROUGE's rules: as eval-core computes it, and as the naive function does.
struct Rouge {
    algorithm: Similarity,
    score: fn(&str, &str) -> [f64; 3],
    naive: fn(&[String], &[String]) -> [f64; 3],
}

const ROUGE: [Rouge; 3] = [
    Rouge { algorithm: Similarity::Rouge1, score: rouge_1, naive: overlap::rouge_1 },
    Rouge { algorithm: Similarity::Rouge2, score: rouge_2, naive: overlap::rouge_2 },
    Rouge { algorithm: Similarity::RougeL, score: short_rouge_l, naive: overlap::rouge_l },
];

fn short_rouge_l(expected: &str, actual: &str) -> [f64; 3] {
    rouge_l(expected, actual).expect("only long texts are not compared")
}

/// Checks the rules for the scores of two texts.
pub(crate) fn check(expected: &str, actual: &str) {
    // ROUGE-1 needs no table, so it gets the whole texts.
    check_rouge(&ROUGE[0], expected, actual);
    let [expected, actual] = [expected, actual].map(|text| &text[..text.floor_char_boundary(MOST_BYTES)]);
    for rule in &ROUGE[1..] {
        check_rouge(rule, expected, actual);
    }
    // Random texts hardly share words, even less in the same order.
    let few_words = [expected, actual].map(of_few_words);
    for rule in &ROUGE {
        check_rouge(rule, &few_words[0], &few_words[1]);
    }
    // One algorithm for each input is enough: `response_similarity` adds only the rules for blank texts.
    check_words(&ROUGE[expected.len() % 3], expected, actual);
    check_texts(expected, actual);
}

/// One of four words for each byte.
fn of_few_words(text: &str) -> String {
    text.bytes().map(|byte| ["a ", "b ", "c ", "d "][usize::from(byte) % 4]).collect()
}

fn check_rouge(Rouge { algorithm, score, naive }: &Rouge, expected: &str, actual: &str) {
    let [precision, recall, f1] = score(expected, actual);
    let naive = naive(&words(expected), &words(actual)).map(f64::to_bits);
    assert_eq!([precision, recall, f1].map(f64::to_bits), naive, "{algorithm:?} {expected:?} {actual:?}");
    for score in [precision, recall, f1] {
        assert!((0.0..=1.0).contains(&score), "{algorithm:?} {score}: {expected:?} {actual:?}");
    }
    let turned = score(actual, expected).map(f64::to_bits);
    assert_eq!(turned, [recall, precision, f1].map(f64::to_bits), "{algorithm:?} {expected:?} {actual:?}");
}

/// Checks the rules for the algorithms that compare words.
fn check_words(Rouge { algorithm, score, .. }: &Rouge, expected: &str, actual: &str) {
    let criterion = Criterion::new(1.0).with_algorithm(*algorithm);
    let answered = |actual| response_similarity(expected, actual, &criterion);
    let [_, _, f1] = score(expected, actual);
    assert_eq!(
        answered(actual),
        (!is_blank(expected)).then_some(f1),
        "{algorithm:?} {expected:?} {actual:?}"
    );
    let has_score = words(expected).len() > usize::from(*algorithm == Similarity::Rouge2);
    let itself = (!is_blank(expected)).then_some(f64::from(has_score));
    assert_eq!(answered(expected), itself, "{algorithm:?} {expected:?}");
}

/// Checks the rules for the algorithms that compare the texts themselves.
fn check_texts(expected: &str, actual: &str) {
    // One of the four ways to prepare a text is enough for each input.
    let plain = Criterion::new(1.0)
        .with_ignore_case(expected.len().is_multiple_of(2))
        .with_normalize(actual.len().is_multiple_of(2));
    let [wanted, found] = [expected, actual].map(|text| prepared(text, &plain));
    for (algorithm, naive) in [
        (Similarity::Exact, f64::from(wanted == found)),
        (Similarity::Contains, f64::from(found.match_indices(&wanted).next().is_some())),
        (Similarity::Levenshtein, overlap::levenshtein(&wanted, &found)),
        (Similarity::Jaccard, overlap::jaccard(&wanted, &found)),
    ] {
        let criterion = plain.clone().with_algorithm(algorithm);
        let score = response_similarity(expected, actual, &criterion);
        // A blank expected answer is not evaluated.
        assert_eq!(score, (!is_blank(expected)).then_some(naive), "{expected:?} {actual:?} {criterion:?}");
        assert!(score.is_none_or(|score| (0.0..=1.0).contains(&score)), "{score:?} {criterion:?}");
        if algorithm != Similarity::Contains && !is_blank(expected) && !is_blank(actual) {
            let turned = response_similarity(actual, expected, &criterion);
            assert_eq!(score, turned, "{expected:?} {actual:?} {criterion:?}");
        }
        let itself = response_similarity(expected, expected, &criterion);
        assert_eq!(itself, (!is_blank(expected)).then_some(1.0), "{expected:?} {criterion:?}");
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// The text as the criterion says to compare it.
fn prepared(text: &str, criterion: &Criterion) -> String {
    let text = if criterion.ignore_case() { text.to_lowercase() } else { text.to_owned() };
    if !criterion.normalize() {
        return text;
    }
    let mut plain = String::new();
    for character in text.chars() {
        if !character.is_whitespace() {
            plain.push(character);
        } else if !plain.is_empty() && !plain.ends_with(' ') {
            plain.push(' ');
        }
    }
    plain.trim_end().to_owned()
}
