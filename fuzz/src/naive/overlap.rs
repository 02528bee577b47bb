//! The overlap of two texts: ROUGE, Jaccard's index and the edit distance, by counting and by quadratic tables.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// Precision, recall and F1 of two lists of tokens.
pub(crate) fn rouge_1(expected: &[String], actual: &[String]) -> [f64; 3] {
    rouge(shared(expected.iter(), actual.iter()), expected.len(), actual.len())
}

/// Precision, recall and F1 of the pairs of neighbours.
pub(crate) fn rouge_2(expected: &[String], actual: &[String]) -> [f64; 3] {
    let (wanted, found) = (expected.windows(2), actual.windows(2));
    let (wanted_count, found_count) = (wanted.len(), found.len());
    rouge(shared(wanted, found), wanted_count, found_count)
}

/// Precision, recall and F1 of the longest common subsequence.
pub(crate) fn rouge_l(expected: &[String], actual: &[String]) -> [f64; 3] {
    let step = |wanted: &String, found: &String, [before, left, above]: [usize; 3]| {
        if wanted == found { before + 1 } else { left.max(above) }
    };
    rouge(table(expected, actual, |_| 0, step), expected.len(), actual.len())
}

/// The number of different words that both texts have, over the number of different words in either.
pub(crate) fn jaccard(expected: &str, actual: &str) -> f64 {
    let [wanted, found] = [expected, actual].map(|text| text.split_whitespace().collect::<BTreeSet<_>>());
    quotient(wanted.intersection(&found).count(), wanted.union(&found).count())
}

/// 1 less the edit distance over the length of the longer text.
pub(crate) fn levenshtein(expected: &str, actual: &str) -> f64 {
    let [wanted, found] = [expected, actual].map(|text| text.chars().collect::<Vec<char>>());
    let step = |wanted: &char, found: &char, [before, left, above]: [usize; 3]| {
        (before + usize::from(wanted != found)).min(left + 1).min(above + 1)
    };
    let whole = wanted.len().max(found.len());
    quotient(whole - table(&wanted, &found, |at| at, step), whole)
}

/// The last field of a table with a row for each expected item and a column for each actual item.
///
/// `step` computes a field from both items and three fields: the one diagonally before it, the one to its left and the
/// one above it.
fn table<T>(
    expected: &[T],
    actual: &[T],
    edge: impl Fn(usize) -> usize,
    step: impl Fn(&T, &T, [usize; 3]) -> usize,
) -> usize {
    let mut above: Vec<usize> = (0..=actual.len()).map(&edge).collect();
    for (row, wanted) in expected.iter().enumerate() {
        let mut fields = vec![edge(row + 1)];
        for (column, found) in actual.iter().enumerate() {
            fields.push(step(wanted, found, [above[column], fields[column], above[column + 1]]));
        }
        above = fields;
    }
    above[actual.len()]
}

/// The number of items that both have. An item counts as often as in the list that has fewer of it.
fn shared<T: Eq + Hash>(expected: impl Iterator<Item = T>, actual: impl Iterator<Item = T>) -> usize {
    let (wanted, found) = (counts(expected), counts(actual));
    wanted.iter().map(|(item, count)| count.min(found.get(item).unwrap_or(&0))).sum()
}

fn counts<T: Eq + Hash>(items: impl Iterator<Item = T>) -> HashMap<T, usize> {
    let mut counts = HashMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}

fn rouge(shared: usize, expected: usize, actual: usize) -> [f64; 3] {
    let (precision, recall) = (quotient(shared, actual), quotient(shared, expected));
    let f1 = if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };
    [precision, recall, f1]
}

#[expect(clippy::cast_precision_loss, reason = "an input has far fewer than 2^53 words")]
fn quotient(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
