//! The longest common subsequence of two lists.

use std::collections::HashMap;
use std::hash::Hash;

/// The largest number of steps of 64 items each that a search may take. Two lists of 100,000 items stay below it.
const MAX_STEPS: usize = 1 << 28;

/// The length of the longest common subsequence: items that both lists have in the same order, with any others
/// between them.
///
/// `None` if the lists are so long that the search would take seconds.
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

/// 64 positions of a list, and which of them hold a certain item.
struct Places {
    word: usize,
    mask: u64,
}

/// The length for the parts of two lists between their equal beginnings and ends.
///
/// By bit vectors (M. Crochemore, C. Iliopoulos, Y. Pinzon, J. Reid, "A fast and practical bit-vector algorithm for
/// the longest common subsequence problem", 2001): a bit for each expected item, cleared if the subsequence grows
/// there, and one addition for 64 of them.
fn between(expected: &[usize], actual: &[usize]) -> Option<usize> {
    let words = expected.len().div_ceil(64);
    if words.saturating_mul(actual.len()) > MAX_STEPS {
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
    // There are no items beyond the end of the list, so the bits there stay set.
    Some(open.iter().map(|word| word.count_zeros() as usize).sum())
}

/// Adds one more actual item, whose positions in the expected list are `places`.
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

    /// The length by the quadratic table of textbooks.
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
    fn the_table_gives_the_same_length() {
        // A linear congruential generator: the test draws the same lists each time.
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
