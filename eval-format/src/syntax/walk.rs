//! Each value of a tree, with its path.

use super::node::{Kind, Node};
use crate::problem::{JsonPath, Step, short};

/// Calls a function with each value: with what holds others before those.
pub(super) fn walk(root: &Node<'_>, visit: impl FnMut(&Node<'_>, &JsonPath)) {
    Walk { path: JsonPath::default(), visit }.node(root);
}

struct Walk<F> {
    path: JsonPath,
    visit: F,
}

impl<F: FnMut(&Node<'_>, &JsonPath)> Walk<F> {
    fn node(&mut self, node: &Node<'_>) {
        (self.visit)(node, &self.path);
        match &node.kind {
            Kind::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.below(Step::Index(at), item);
                }
            }
            Kind::Object(entries) => {
                for entry in entries {
                    self.below(Step::Key(short(&entry.key)), &entry.value);
                }
            }
            _ => {}
        }
    }

    fn below(&mut self, step: Step, node: &Node<'_>) {
        self.path.push(step);
        self.node(node);
        self.path.pop();
    }
}
