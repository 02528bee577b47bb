//! ROUGE (C.-Y. Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", 2004): the words that two texts share,
//! as single words (ROUGE-1), as pairs of neighbours (ROUGE-2), and as the longest common subsequence (ROUGE-L).
//!
//! Results are those of the Python package `rouge-score` 0.1.2, with ADK's tokenizer.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::common_subsequence;
use super::tokenize::{Tokens, tokens};

/// The overlap of two texts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rouge {
    /// Shared words per word of the actual text.
    pub(crate) precision: f64,
    /// Shared words per word of the expected text.
    pub(crate) recall: f64,
    /// The harmonic mean of precision and recall. That of ROUGE-1 is `response_match_score`.
    pub(crate) fmeasure: f64,
}

/// A text prepared for ROUGE-1: its tokens, sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct RougeText {
    tokens: Tokens,
    /// Key and index of each token, sorted by key and then by text, so that equal tokens are neighbours.
    sorted: Vec<(u64, usize)>,
}

impl RougeText {
    /// Splits a text into tokens and sorts them.
    pub(crate) fn new(text: &str) -> Self {
        let tokens = tokens(text);
        let mut sorted = Vec::with_capacity(tokens.len());
        for at in 0..tokens.len() {
            sorted.push((key(tokens.get(at)), at));
        }
        if sorted.len() <= SORTED_BY_INSERTION {
            sort_by_insertion(&mut sorted, |a, b| {
                a.0 < b.0 || (a.0 == b.0 && compare(&tokens, a, &tokens, b).is_lt())
            });
        } else {
            sorted.sort_unstable_by(|a, b| compare(&tokens, *a, &tokens, *b));
        }
        Self { tokens, sorted }
    }

    /// The tokens in the order of the text.
    pub(crate) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The number of tokens that both texts have. A token counts as often as in the text that has fewer of it.
    fn shared(&self, other: &Self) -> usize {
        let (mut ours, mut theirs) = (self.sorted.iter(), other.sorted.iter());
        let (mut a, mut b) = (ours.next(), theirs.next());
        let mut shared = 0;
        while let (Some(x), Some(y)) = (a, b) {
            let order = compare(&self.tokens, *x, &other.tokens, *y);
            shared += usize::from(order.is_eq());
            if order.is_le() {
                a = ours.next();
            }
            if order.is_ge() {
                b = theirs.next();
            }
        }
        shared
    }
}

/// Up to so many tokens, the sort of std is slower in tests, which are built without optimisation. With it, std sorts so few
/// in the same way.
const SORTED_BY_INSERTION: usize = 48;

fn sort_by_insertion<T: Copy>(items: &mut [T], is_less: impl Fn(T, T) -> bool) {
    for next in 1..items.len() {
        let item = items[next];
        let mut place = next;
        while place > 0 && is_less(item, items[place - 1]) {
            items[place] = items[place - 1];
            place -= 1;
        }
        items[place] = item;
    }
}

/// The first eight bytes of a token as a number, filled up with zeros. It decides almost all comparisons.
///
/// Tokens hold no zero bytes, so two tokens of less than eight bytes with equal keys are equal.
fn key(token: &[u8]) -> u64 {
    if let Some(letters) = token.first_chunk() {
        return u64::from_be_bytes(*letters);
    }
    let mut key = 0;
    for letter in token {
        key = key << 8 | u64::from(*letter);
    }
    // A token that is not empty has at most seven letters here.
    key << (8 * (8 - token.len().max(1)))
}

fn compare(ours: &Tokens, a: (u64, usize), theirs: &Tokens, b: (u64, usize)) -> Ordering {
    match a.0.cmp(&b.0) {
        // A token that does not fill its key ends within it.
        Ordering::Equal if a.0 & 0xff != 0 => ours.get(a.1).cmp(theirs.get(b.1)),
        order => order,
    }
}

/// ROUGE-1: compares two texts by their words.
///
/// Two texts without words score 0, as in ADK.
pub(crate) fn rouge_1(expected: &RougeText, actual: &RougeText) -> Rouge {
    Rouge::of(expected.shared(actual), expected.sorted.len(), actual.sorted.len())
}

/// ROUGE-2: compares two texts by their pairs of neighbouring words.
///
/// A text of one word has no pairs and scores 0, even against itself, as in `rouge-score`.
pub(crate) fn rouge_2(expected: &Tokens, actual: &Tokens) -> Rouge {
    let mut unmatched: HashMap<(&[u8], &[u8]), usize> = HashMap::new();
    for pair in pairs(expected) {
        *unmatched.entry(pair).or_default() += 1;
    }
    let mut take = |pair| match unmatched.get_mut(&pair) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        _ => false,
    };
    let shared = pairs(actual).filter(|pair| take(*pair)).count();
    Rouge::of(shared, expected.len().saturating_sub(1), actual.len().saturating_sub(1))
}

/// ROUGE-L: compares two texts by the longest common subsequence of their words.
///
/// `None` if the texts are too long for that; see [`common_subsequence::longest`].
pub(crate) fn rouge_l(expected: &Tokens, actual: &Tokens) -> Option<Rouge> {
    let shared = common_subsequence::longest(expected.iter(), actual.iter())?;
    Some(Rouge::of(shared, expected.len(), actual.len()))
}

fn pairs(tokens: &Tokens) -> impl Iterator<Item = (&[u8], &[u8])> {
    tokens.iter().zip(tokens.iter().skip(1))
}

impl Rouge {
    #[expect(clippy::cast_precision_loss, reason = "a text has far fewer than 2^53 words")]
    fn of(shared: usize, expected: usize, actual: usize) -> Self {
        let precision = shared as f64 / actual.max(1) as f64;
        let recall = shared as f64 / expected.max(1) as f64;
        let sum = precision + recall;
        // The order of the operations is part of the result.
        let fmeasure = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
        Self { precision, recall, fmeasure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, actual: &str, fmeasure: f64) {
        let score = rouge_1(&RougeText::new(expected), &RougeText::new(actual)).fmeasure;
        assert_eq!(score.to_bits(), fmeasure.to_bits(), "{expected} / {actual}: {score}");
    }

    #[test]
    fn order_and_negation_hardly_count() {
        check("The dog bit the man", "The man bit the dog", 1.0);
        check("The refund was approved", "The refund was not approved", 0.888_888_888_888_889);
        check("-5", "5", 1.0);
    }

    #[test]
    fn tokens_with_equal_beginnings_stay_apart() {
        check("abcdefgh", "abcdefgh", 1.0);
        check("abcdefgh1", "abcdefgh", 0.0);
        check("abcdefgh1 abcdefgh2", "abcdefgh2 abcdefgh3", 0.5);
        check("12345678 123456789", "123456789 12345678", 1.0);
    }

    fn check_order(expected: &str, actual: &str, pairs: f64, in_order: f64) {
        let (expected_tokens, actual_tokens) = (tokens(expected), tokens(actual));
        let found = rouge_2(&expected_tokens, &actual_tokens).fmeasure;
        assert_eq!(found.to_bits(), pairs.to_bits(), "{expected} / {actual}: {found}");
        let found = rouge_l(&expected_tokens, &actual_tokens).unwrap().fmeasure;
        assert_eq!(found.to_bits(), in_order.to_bits(), "{expected} / {actual}: {found}");
    }

    #[test]
    fn pairs_and_sequences_see_the_order() {
        check_order("The dog bit the man", "The man bit the dog", 0.75, 0.6);
        check_order("a b c d", "a b c d", 1.0, 1.0);
        check_order("a b a b", "a b", 0.5, 2.0 / 3.0);
        check_order("東京 👍 ok", "ok 東京", 0.5, 2.0 / 3.0);
    }

    #[test]
    fn a_single_word_has_no_pairs() {
        check_order("yes", "yes", 0.0, 1.0);
        check_order("", "", 0.0, 0.0);
        check_order("👍", "👍", 0.0, 0.0);
        check_order("yes", "", 0.0, 0.0);
    }

    #[test]
    fn no_words_score_nothing() {
        check("", "", 0.0);
        check("👍", "👍", 0.0);
    }
}
