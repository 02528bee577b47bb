//! What fuzzing reaches of the arithmetic; not there without `--cfg fuzzing`.

use crate::score::rouge::{self, RougeText};
use crate::score::tokenize;

/// The tokens of a text, each the bytes of a word.
pub fn tokens(text: &str) -> Vec<Vec<u8>> {
    tokenize::tokens(text).iter().map(<[u8]>::to_vec).collect()
}

/// Precision, recall and F1 of ROUGE-1.
pub fn rouge_1(expected: &str, actual: &str) -> [f64; 3] {
    let score = rouge::rouge_1(&RougeText::new(expected), &RougeText::new(actual));
    [score.precision, score.recall, score.fmeasure]
}
