//! One sort for all lists. Sorting is much code, which rustc would compile again for each type of element.

use std::cmp::Ordering;

/// Sorts a list of `count` elements: returns their positions in sorted order. The sort is stable.
///
/// `compare` compares the elements at two positions.
pub(crate) fn sorted(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    positions.sort_by(|one, other| compare(*one, *other));
    positions
}
