//! Functions for the measurements under `benches/`.

use eval_format::Invocation;

use crate::score::equality::ArgsMatch;
use crate::score::rouge::{RougeText, rouge_1 as compare};
use crate::score::trajectory::{MatchType, trajectory_matches};
use crate::score::{porter, tokenize};

/// The number of tokens of a text.
pub fn tokens(text: &str) -> usize {
    tokenize::tokens(text).len()
}

/// Stems a word of lower-case ASCII letters in place; the length of the stem.
pub fn stem(word: &mut [u8]) -> usize {
    porter::stem(word)
}

/// `response_match_score` of two texts.
pub fn rouge_1(expected: &str, actual: &str) -> f64 {
    compare(&RougeText::new(expected), &RougeText::new(actual)).fmeasure
}

/// `tool_trajectory_avg_score` of a turn with the match type `ANY_ORDER`.
pub fn any_order(expected: &Invocation, actual: &Invocation) -> bool {
    let expected: Vec<_> = expected.tool_calls().collect();
    let actual: Vec<_> = actual.tool_calls().collect();
    trajectory_matches(&expected, &actual, MatchType::AnyOrder, ArgsMatch::Exact) == Some(true)
}
