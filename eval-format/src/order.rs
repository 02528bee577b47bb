//! One sort for every list. A sort is much code, which rustc compiles anew for each type of element.

use std::cmp::Ordering;

/// The positions of a list of `count` elements in the order of its elements, which `compare` compares by position.
///
/// Equal elements stay in their order.
pub(crate) fn sorted(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    positions.sort_by(|one, other| compare(*one, *other));
    positions
}
