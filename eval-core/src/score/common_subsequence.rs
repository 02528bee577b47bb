//! The longest sequence that two lists have in common.

use std::collections::HashMap;
use std::hash::Hash;

/// Above this many steps of 64 items each the longest sequence is not searched for: two lists of
/// 100,000 items are below it.
const MOST_STEPS: usize = 1 << 28;

/// How many items stand in both lists in the same order, with any others between them.
///
/// `None` where the lists are so long that it would take seconds to tell.
pub(crate) fn longest<T: Eq + Hash>(
    expected: impl Iterator<Item = T>,
    actual: impl Iterator<Item = T>,
) -> Option<usize> {
    let mut numbers = HashMap::new();
    let mut numbered = |item| {
        let next = numbers.len();
        *numbers.entry(item).or_insert(next)
    };
    let expected: Vec<usize> = expected.map(&mut numbered).collect();
    let actual: Vec<usize> = actual.map(&mut numbered).collect();

    let prefix = expected.iter().zip(&actual).take_while(|(e, a)| e == a).count();
    let (expected, actual) = (&expected[prefix..], &actual[prefix..]);
    let suffix = expected.iter().rev().zip(actual.iter().rev()).take_while(|(e, a)| e == a).count();
    let (expected, actual) = (&expected[..expected.len() - suffix], &actual[..actual.len() - suffix]);
    Some(prefix + suffix + between(expected, actual)?)
}

/// 64 places of a list, and which of them hold a certain item.
struct Places {
    word: usize,
    mask: u64,
}

/// The longest sequence of what lies between equal beginnings and ends, by bit vectors (Crochemore,
/// Iliopoulos, Pinzon and Reid, 2001): a bit for each expected item, cleared where the sequence
/// grows, and one addition for 64 of them.
fn between(expected: &[usize], actual: &[usize]) -> Option<usize> {
    let words = expected.len().div_ceil(64);
    if words.saturating_mul(actual.len()) > MOST_STEPS {
        return None;
    }
    let mut places: HashMap<usize, Vec<Places>> = HashMap::new();
    for (at, item) in expected.iter().enumerate() {
        let (word, bit) = (at / 64, 1 << (at % 64));
        let found = places.entry(*item).or_default();
        match found.last_mut() {
            Some(last) if last.word == word => last.mask |= bit,
            _ => found.push(Places { word, mask: bit }),
        }
    }
    let mut open = vec![u64::MAX; words];
    for found in actual.iter().filter_map(|item| places.get(item)) {
        grow(&mut open, found);
    }
    // Bits beyond the list have no places and stay set.
    Some(open.iter().map(|word| word.count_zeros() as usize).sum())
}

/// Takes one more actual item into account, which stands at these places of the expected list.
fn grow(open: &mut [u64], places: &[Places]) {
    let mut places = places.iter().peekable();
    let first = places.peek().map_or(0, |places| places.word);
    let mut carry = false;
    for (word, bits) in open.iter_mut().enumerate().skip(first) {
        let mask = places.next_if(|places| places.word == word).map_or(0, |places| places.mask);
        let (sum, over) = bits.overflowing_add(*bits & mask);
        let (sum, over_again) = sum.overflowing_add(u64::from(carry));
        *bits = sum | (*bits & !mask);
        carry = over || over_again;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the table of the textbook.
    fn by_table(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y { diagonal + 1 } else { row[at].max(above) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    fn check(expected: &str, actual: &str, length: usize) {
        assert_eq!(longest(expected.chars(), actual.chars()), Some(length), "{expected} / {actual}");
        assert_eq!(longest(actual.chars(), expected.chars()), Some(length), "{actual} / {expected}");
    }

    #[test]
    fn items_count_in_order_and_once() {
        check("", "", 0);
        check("abc", "", 0);
        check("abc", "abc", 3);
        check("abc", "cba", 1);
        check("abcd", "xaxbxdx", 3);
        check("aab", "aba", 2);
        check("aaa", "aa", 2);
        check("👍a👍", "a👍👍", 2);
    }

    #[test]
    fn the_table_says_the_same() {
        // A linear congruential generator: no randomness in tests.
        let mut state = 7_u32;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        for _ in 0..300 {
            let letters = 1 + draw(9);
            let mut list = || (0..draw(200)).map(|_| draw(letters)).collect::<Vec<u32>>();
            let (a, b) = (list(), list());
            assert_eq!(longest(a.iter(), b.iter()), Some(by_table(&a, &b)), "{a:?} {b:?}");
        }
    }

    #[test]
    fn long_lists_are_refused_unless_they_hardly_differ() {
        let long = |items| std::iter::repeat_n(items, 400_000).flatten();
        assert_eq!(longest(long([1, 2]), long([2, 1])), None);
        assert_eq!(longest(long([1, 2]), long([1, 2]).skip(1)), Some(799_999));
        assert_eq!(longest(long([1, 2]), long([1, 2]).chain([3])), Some(800_000));
    }
}
