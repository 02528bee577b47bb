//! The spans of a trace as a tree.
//!
//! Every walk is a loop, not a recursion: files decide how deep spans are nested.

use std::collections::HashMap;

use super::gap::{Gap, GapKind};
use super::id::Id;
use super::view::Span;

#[derive(Debug)]
pub(super) struct Tree {
    pub(super) spans: Vec<Span>,
    /// In the order of time.
    pub(super) children: Vec<Vec<usize>>,
    pub(super) roots: Vec<usize>,
    pub(super) gaps: Vec<Gap>,
}

impl Tree {
    /// The tree of some spans.
    ///
    /// A span whose parent is not there is a root. So is a span that is its own parent. In a circle of ancestors, the span that
    /// began first is the root. Of spans with one id the first counts.
    pub(super) fn new(all: Vec<Span>) -> Self {
        let mut gaps = Vec::new();
        let mut numbers: HashMap<Id, usize> = HashMap::with_capacity(all.len());
        let mut spans: Vec<Span> = Vec::with_capacity(all.len());
        for span in all {
            match numbers.get(&span.id) {
                Some(first) if spans[*first] == span => {
                    gaps.push(Gap::new(GapKind::Repeated, format!("the span {} is there twice", span.id)));
                }
                Some(_) => gaps.push(Gap::new(
                    GapKind::Contradiction,
                    format!("two different spans have the id {}; the first is taken", span.id),
                )),
                None => {
                    numbers.insert(span.id.clone(), spans.len());
                    spans.push(span);
                }
            }
        }
        let mut parents = Vec::with_capacity(spans.len());
        for (number, span) in spans.iter().enumerate() {
            let parent = span.parent.as_ref().and_then(|parent| numbers.get(parent)).copied();
            if parent == Some(number) {
                let message = format!("the span {} names itself as its parent", span.id);
                gaps.push(Gap::new(GapKind::Contradiction, message));
            }
            parents.push(parent.filter(|parent| *parent != number));
        }
        break_cycles(&spans, &mut parents, &mut gaps);
        let mut children = vec![Vec::new(); spans.len()];
        let mut roots = Vec::new();
        for (number, parent) in parents.iter().enumerate() {
            match parent {
                Some(parent) => children[*parent].push(number),
                None => roots.push(number),
            }
        }
        let in_order =
            |numbers: &mut Vec<usize>| numbers.sort_by(|a, b| spans[*a].order().cmp(&spans[*b].order()));
        children.iter_mut().for_each(in_order);
        in_order(&mut roots);
        Self { spans, children, roots, gaps }
    }

    /// Some spans and all below them, depth first, siblings in the order of time.
    pub(super) fn walk(&self, from: &[usize]) -> Vec<usize> {
        let mut stack: Vec<usize> = from.iter().rev().copied().collect();
        let mut walked = Vec::new();
        while let Some(number) = stack.pop() {
            walked.push(number);
            stack.extend(self.children[number].iter().rev());
        }
        walked
    }
}

fn break_cycles(spans: &[Span], parents: &mut [Option<usize>], gaps: &mut Vec<Gap>) {
    // The walk that saw a span, from 1, and its place in that walk.
    let mut seen = vec![(0, 0); spans.len()];
    for start in 0..spans.len() {
        let walk = start + 1;
        let mut path = Vec::new();
        let mut next = Some(start);
        while let Some(number) = next {
            if seen[number].0 == walk {
                let cycle: &[usize] = &path[seen[number].1..];
                if let Some(first) =
                    cycle.iter().copied().min_by(|a, b| spans[*a].order().cmp(&spans[*b].order()))
                {
                    parents[first] = None;
                    let message = format!(
                        "{} spans are each other's ancestors, {} among them",
                        cycle.len(),
                        spans[first].id
                    );
                    gaps.push(Gap::new(GapKind::Contradiction, message));
                }
                break;
            }
            if seen[number].0 > 0 {
                break;
            }
            seen[number] = (walk, path.len());
            path.push(number);
            next = parents[number];
        }
    }
}
