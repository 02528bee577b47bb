//! Similarity of two texts: by their sets of words, and by the edits between them.

use std::collections::HashSet;

use super::edit_distance::edit_distance;

/// The largest number of pairs of characters for which edits are counted.
const MAX_PAIRS: usize = 1 << 26;

/// A part of a whole, as two counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) part: usize,
    pub(crate) whole: usize,
}

impl Share {
    /// The quotient, 0 to 1. If the whole is 0, the quotient is 0.
    #[expect(clippy::cast_precision_loss, reason = "texts and lists are far shorter than 2^53")]
    pub(crate) fn value(self) -> f64 {
        self.part as f64 / self.whole.max(1) as f64
    }
}

/// Jaccard's index: the number of different words that both texts have, of the number of different words in either.
/// Words are separated by white space.
pub(crate) fn jaccard(expected: &str, actual: &str) -> Share {
    let words = |text| str::split_whitespace(text).collect::<HashSet<&str>>();
    let (expected, actual) = (words(expected), words(actual));
    let both = expected.intersection(&actual).count();
    Share { part: both, whole: expected.len() + actual.len() - both }
}

/// The length of the longer text minus the edit distance, as a share of that length, in Unicode scalar
/// values.
///
/// `None` if the differing parts are too long: see `MAX_PAIRS`.
pub(crate) fn levenshtein(expected: &str, actual: &str) -> Option<Share> {
    let whole = expected.chars().count().max(actual.chars().count());
    // Equal beginnings and ends need no edits.
    let equal = length_of_equal(expected.chars(), actual.chars());
    let (expected, actual) = (&expected[equal..], &actual[equal..]);
    let equal = length_of_equal(expected.chars().rev(), actual.chars().rev());
    let (expected, actual) = (&expected[..expected.len() - equal], &actual[..actual.len() - equal]);
    let pairs = expected.chars().count().saturating_mul(actual.chars().count());
    if pairs > MAX_PAIRS {
        return None;
    }
    Some(Share { part: whole - edit_distance(expected, actual), whole })
}

fn length_of_equal(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b).take_while(|(x, y)| x == y).map(|(c, _)| c.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_once_and_by_the_letter() {
        for (expected, actual, part, whole) in [
            ("a b c", "c b a", 3, 3),
            ("a a a", "a", 1, 1),
            ("The answer is 42.", "The answer is 42!", 3, 5),
            ("👍 ok", "ok", 1, 2),
            ("a\u{a0}b", "a b", 2, 2),
            ("", "a", 0, 1),
            ("", " ", 0, 0),
        ] {
            assert_eq!(jaccard(expected, actual), Share { part, whole }, "{expected:?} {actual:?}");
        }
    }

    #[test]
    fn characters_are_unicode_scalar_values() {
        for (expected, actual, part, whole) in [
            ("kitten", "sitting", 4, 7),
            ("abc", "abc", 3, 3),
            ("", "abc", 0, 3),
            ("", "", 0, 0),
            ("aba", "a", 1, 3),
            ("straße", "strasse", 5, 7),
            ("東京", "京都", 0, 2),
            ("👍🏽", "👍", 1, 2),
            ("e\u{301}", "é", 0, 2),
        ] {
            assert_eq!(levenshtein(expected, actual), Some(Share { part, whole }), "{expected:?} {actual:?}");
        }
    }

    #[test]
    fn long_texts_are_refused_unless_they_hardly_differ() {
        let (a, b) = ("a".repeat(10_000), "b".repeat(10_000));
        assert_eq!(levenshtein(&a, &b), None);
        let text = format!("{a}x{b}");
        assert_eq!(levenshtein(&text, &format!("{a}y{b}")).map(|share| share.part), Some(20_000));
    }

    #[test]
    fn shares_are_rounded_once() {
        for (part, whole, value) in [(3, 10, 0.3), (0, 3, 0.0), (3, 3, 1.0), (0, 0, 0.0)] {
            assert_eq!(Share { part, whole }.value().to_bits(), f64::to_bits(value), "{part} of {whole}");
        }
    }
}
