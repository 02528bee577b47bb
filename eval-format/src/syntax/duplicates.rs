//! Errors about duplicate keys of an object.
//!
//! Python keeps the last value and drops the others, so cases, turns or expected arguments in the file would
//! not be tested.

use std::collections::HashMap;
use std::ops::Range;

use super::node::{Node, walk};
use crate::problem::{JsonPath, Problem, ProblemCode, short, shown};

pub(super) struct Duplicate {
    /// The offset at which the object begins.
    pub(super) object: usize,
    pub(super) first: Range<usize>,
    pub(super) second: Range<usize>,
    pub(super) key: String,
}

/// An error for each repeated key, found in one walk over the tree. Repeated keys inside a replaced value are
/// left out: they are reported once one of the two values is removed.
pub(super) fn errors(root: &Node<'_>, duplicates: Vec<Duplicate>) -> Vec<Problem> {
    if duplicates.is_empty() {
        return Vec::new();
    }
    let mut by_object: HashMap<usize, Vec<Duplicate>> = HashMap::new();
    for duplicate in duplicates {
        by_object.entry(duplicate.object).or_default().push(duplicate);
    }
    let mut found = Vec::new();
    walk(root, |node, path| {
        if let Some(here) = by_object.remove(&node.range.start) {
            found.extend(here.iter().map(|duplicate| error(duplicate, path)));
        }
    });
    found
}

fn error(duplicate: &Duplicate, object: &JsonPath) -> Problem {
    let path = object.key(&short(&duplicate.key));
    let message = format!("key `{}` stands twice in one object", shown(&duplicate.key));
    Problem::error(ProblemCode::DuplicateKey, path, duplicate.second.clone(), message)
        .label("ADK would read this value alone")
        .related(duplicate.first.clone(), "this one would be lost")
        .help("remove one of them, or merge their values")
}
