//! Functions for the fuzz targets under `fuzz/`. The module exists only with `--cfg fuzzing`.

use eval_format::{Criterion, Invocation};

use crate::metric::similarity_of_texts;
use crate::score::rouge::{self, Rouge, RougeText};
use crate::score::tokenize;

/// The tokens of a text, each as its bytes.
pub fn tokens(text: &str) -> Vec<Vec<u8>> {
    tokenize::tokens(text).iter().map(<[u8]>::to_vec).collect()
}

/// Precision, recall and F1 of ROUGE-1.
pub fn rouge_1(expected: &str, actual: &str) -> [f64; 3] {
    parts(rouge::rouge_1(&RougeText::new(expected), &RougeText::new(actual)))
}

/// Precision, recall and F1 of ROUGE-2.
pub fn rouge_2(expected: &str, actual: &str) -> [f64; 3] {
    parts(rouge::rouge_2(&tokenize::tokens(expected), &tokenize::tokens(actual)))
}

/// Precision, recall and F1 of ROUGE-L; `None` if the texts are too long for it.
pub fn rouge_l(expected: &str, actual: &str) -> Option<[f64; 3]> {
    rouge::rouge_l(&tokenize::tokens(expected), &tokenize::tokens(actual)).map(parts)
}

fn parts(score: Rouge) -> [f64; 3] {
    [score.precision, score.recall, score.fmeasure]
}

/// The score of `response_similarity` for one turn; `None` if the turn is not evaluated.
pub fn response_similarity(expected: &str, actual: &str, criterion: &Criterion) -> Option<f64> {
    let [expected, actual] = [expected, actual].map(|text| Invocation::user("q").response(text));
    similarity_of_texts(&actual, Some(&expected), criterion).value()
}
