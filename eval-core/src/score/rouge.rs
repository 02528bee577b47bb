//! ROUGE (C.-Y. Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", 2004): the words that two texts share,
//! as single words (ROUGE-1), as pairs of neighbours (ROUGE-2), and as the longest common subsequence (ROUGE-L).
//!
//! Results agree with the Python package `rouge-score` 0.1.2, with ADK's tokenizer.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::common_subsequence;
use super::tokenize::{Tokens, tokens};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rouge {
    /// Shared words per word of the actual text.
    pub(crate) precision: f64,
    /// Shared words per word of the expected text.
    pub(crate) recall: f64,
    /// The harmonic mean of precision and recall. For ROUGE-1 it is `response_match_score`.
    pub(crate) fmeasure: f64,
}

/// A text prepared for ROUGE-1: its tokens, each with a key.
#[derive(Clone, Debug, Default)]
pub(crate) struct RougeText {
    pub(crate) tokens: Tokens,
    /// The key of each token. It decides almost all comparisons.
    keys: Vec<u64>,
}

/// The number of tokens up to which a search for each token is faster than sorting both texts.
const MAX_SCANNED_TOKENS: usize = 48;

impl RougeText {
    pub(crate) fn new(text: &str) -> Self {
        let tokens = tokens(text);
        let keys = (0..tokens.len()).map(|at| tokens.key(at)).collect();
        Self { tokens, keys }
    }

    /// The number of tokens that both texts have. A token counts as often as in the text that has fewer of it.
    fn shared(&self, other: &Self) -> usize {
        if self.keys.len() <= MAX_SCANNED_TOKENS && other.keys.len() <= MAX_SCANNED_TOKENS {
            self.shared_by_looking(other)
        } else {
            self.shared_by_sorting(other)
        }
    }

    /// Pairs each token of this text with an equal token of the other text. Each search begins after the last
    /// match, where similar texts have the next one.
    fn shared_by_looking(&self, other: &Self) -> usize {
        let (ours, theirs) = (self.keys.as_slice(), other.keys.as_slice());
        let mut taken = [false; MAX_SCANNED_TOKENS];
        let (mut next, mut shared) = (0, 0);
        for (at, key) in ours.iter().enumerate() {
            let is_equal = |place: &usize| {
                *key == theirs[*place]
                    && !taken[*place]
                    && compare(&self.tokens, (*key, at), &other.tokens, (*key, *place)).is_eq()
            };
            if let Some(place) = (next..theirs.len()).chain(0..next).find(is_equal) {
                taken[place] = true;
                next = place + 1;
                shared += 1;
            }
        }
        shared
    }

    fn shared_by_sorting(&self, other: &Self) -> usize {
        let (ours, theirs) = (self.sorted(), other.sorted());
        let (mut a, mut b, mut shared) = (0, 0, 0);
        while a < ours.len() && b < theirs.len() {
            match compare(&self.tokens, ours[a], &other.tokens, theirs[b]) {
                Ordering::Less => a += 1,
                Ordering::Greater => b += 1,
                Ordering::Equal => (a, b, shared) = (a + 1, b + 1, shared + 1),
            }
        }
        shared
    }

    /// Key and index of each token, sorted by key and then by text, so that equal tokens are neighbours.
    fn sorted(&self) -> Vec<(u64, usize)> {
        let mut sorted: Vec<(u64, usize)> = self.keys.iter().copied().zip(0..).collect();
        sorted.sort_unstable_by(|a, b| compare(&self.tokens, *a, &self.tokens, *b));
        sorted
    }
}

fn compare(ours: &Tokens, a: (u64, usize), theirs: &Tokens, b: (u64, usize)) -> Ordering {
    match a.0.cmp(&b.0) {
        // A key with a zero at its end holds the whole token.
        Ordering::Equal if a.0 & 0xff != 0 => ours.get(a.1).cmp(theirs.get(b.1)),
        order => order,
    }
}

/// ROUGE-1: compares two texts by their words.
///
/// Two texts without words score 0, as in ADK.
pub(crate) fn rouge_1(expected: &RougeText, actual: &RougeText) -> Rouge {
    Rouge::of(expected.shared(actual), expected.keys.len(), actual.keys.len())
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
        // The order of the operations affects the last bits of the result.
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

    #[test]
    fn few_and_many_tokens_are_counted_alike() {
        let words = ["a", "b", "abcdefgh1", "abcdefgh2", "東京", "runs", "running", "7"];
        let text = |seed: usize, len: usize| {
            let word = |at: usize| words[(at * at + at * seed + seed) % words.len()];
            RougeText::new(&(0..len).map(word).collect::<Vec<_>>().join(" "))
        };
        for seed in 0..20 {
            let (ours, theirs) = (text(seed, seed * 2), text(seed + 3, MAX_SCANNED_TOKENS - seed));
            let shared = ours.shared_by_sorting(&theirs);
            assert_eq!(ours.shared_by_looking(&theirs), shared, "{seed}");
            assert_eq!(theirs.shared_by_looking(&ours), shared, "{seed}");
        }
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
