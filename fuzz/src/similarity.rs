//! ROUGE, and the algorithms of `response_similarity`.

use eval_core::fuzzing::{response_similarity, rouge_1, rouge_2, rouge_l};
use eval_format::{Criterion, Similarity};

use crate::naive::overlap;
use crate::words::words;

const ALGORITHMS: [Similarity; 7] = [
    Similarity::Exact,
    Similarity::Contains,
    Similarity::Levenshtein,
    Similarity::Jaccard,
    Similarity::Rouge1,
    Similarity::Rouge2,
    Similarity::RougeL,
];

/// A text is cut here: the tables of the naive writing grow with the square of it.
const MOST_BYTES: usize = 512;

/// Holds the scores of two texts to the rules.
pub(crate) fn check(expected: &str, actual: &str) {
    let mut rules = vec![Rouge { name: "ROUGE-1", score: rouge_1, naive: overlap::rouge_1 }];
    // It needs no table, so it sees the whole.
    check_rouge(&rules, expected, actual);
    rules.push(Rouge { name: "ROUGE-2", score: rouge_2, naive: overlap::rouge_2 });
    rules.push(Rouge { name: "ROUGE-L", score: short_rouge_l, naive: overlap::rouge_l });

    let [expected, actual] = [expected, actual].map(|text| &text[..text.floor_char_boundary(MOST_BYTES)]);
    check_rouge(&rules, expected, actual);
    for ignore_case in [true, false] {
        for normalize in [true, false] {
            let criterion = Criterion::new(1.0).with_ignore_case(ignore_case).with_normalize(normalize);
            check_metric(expected, actual, &criterion);
        }
    }
    // Random words hardly stand in both texts, let alone in the same order.
    let [expected, actual] = [expected, actual].map(of_few_words);
    check_rouge(&rules, &expected, &actual);
}

/// A word for each byte, out of four.
fn of_few_words(text: &str) -> String {
    text.bytes().map(|byte| ["a ", "b ", "c ", "d "][usize::from(byte) % 4]).collect()
}

/// Precision, recall and F1, and what they have to be by the tokens of both texts.
struct Rouge {
    name: &'static str,
    score: fn(&str, &str) -> [f64; 3],
    naive: fn(&[String], &[String]) -> [f64; 3],
}

fn check_rouge(rules: &[Rouge], expected: &str, actual: &str) {
    let (wanted, found) = (words(expected), words(actual));
    for Rouge { name, score, naive } in rules {
        let [precision, recall, f1] = score(expected, actual);
        for score in [precision, recall, f1] {
            assert!((0.0..=1.0).contains(&score), "{name} {score}: {expected:?} {actual:?}");
        }
        let turned = score(actual, expected).map(f64::to_bits);
        assert_eq!(turned, [recall, precision, f1].map(f64::to_bits), "{name} {expected:?} {actual:?}");
        let wanted = naive(&wanted, &found).map(f64::to_bits);
        assert_eq!([precision, recall, f1].map(f64::to_bits), wanted, "{name} {expected:?} {actual:?}");
    }
}

fn short_rouge_l(expected: &str, actual: &str) -> [f64; 3] {
    rouge_l(expected, actual).expect("only long texts are not compared")
}

fn check_metric(expected: &str, actual: &str, criterion: &Criterion) {
    for algorithm in ALGORITHMS {
        let criterion = criterion.clone().with_algorithm(algorithm);
        let score = response_similarity(expected, actual, &criterion);
        // Nothing is compared with a blank.
        let wanted = (!is_blank(expected)).then(|| naive_metric(expected, actual, &criterion));
        assert_eq!(
            score.map(f64::to_bits),
            wanted.map(f64::to_bits),
            "{expected:?} {actual:?} {criterion:?}"
        );
        assert!(score.is_none_or(|score| (0.0..=1.0).contains(&score)), "{score:?} {criterion:?}");
        if algorithm != Similarity::Contains && !is_blank(expected) && !is_blank(actual) {
            let turned = response_similarity(actual, expected, &criterion);
            assert_eq!(score, turned, "{expected:?} {actual:?} {criterion:?}");
        }
        check_itself(expected, &criterion);
    }
}

/// A text is like itself, if it has what is compared.
fn check_itself(text: &str, criterion: &Criterion) {
    let has_words = match criterion.algorithm() {
        Similarity::Rouge1 | Similarity::RougeL => !words(text).is_empty(),
        Similarity::Rouge2 => words(text).len() > 1,
        _ => true,
    };
    let score = response_similarity(text, text, criterion);
    assert_eq!(score, (!is_blank(text)).then_some(f64::from(has_words)), "{text:?} {criterion:?}");
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn naive_metric(expected: &str, actual: &str, criterion: &Criterion) -> f64 {
    let [wanted, found] = [expected, actual].map(|text| prepared(text, criterion));
    let rouge = |score: fn(&[String], &[String]) -> [f64; 3]| score(&words(expected), &words(actual))[2];
    match criterion.algorithm() {
        Similarity::Exact => f64::from(wanted == found),
        Similarity::Contains => f64::from(found.match_indices(&wanted).next().is_some()),
        Similarity::Levenshtein => overlap::levenshtein(&wanted, &found),
        Similarity::Jaccard => overlap::jaccard(&wanted, &found),
        Similarity::Rouge1 => rouge(overlap::rouge_1),
        Similarity::Rouge2 => rouge(overlap::rouge_2),
        Similarity::RougeL => rouge(overlap::rouge_l),
    }
}

/// The text without what the criterion says to leave out of account.
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
