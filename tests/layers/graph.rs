//! A directed graph of uses, its circles, and an order from the bottom.

use std::collections::{BTreeMap, BTreeSet};

use crate::finder::Use;

/// The users of each node, with the uses that say so.
#[derive(Clone, Default)]
pub(crate) struct Graph<'c> {
    names: Vec<&'c str>,
    edges: BTreeMap<(usize, usize), Vec<&'c Use>>,
}

impl<'c> Graph<'c> {
    /// The index of a node, which is added if it is new.
    pub(crate) fn node(&mut self, name: &'c str) -> usize {
        self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    /// Adds a use. A use of a node by itself does not count.
    pub(crate) fn add(&mut self, from: &'c str, to: &'c str, used: &'c Use) {
        let (from, to) = (self.node(from), self.node(to));
        if from != to {
            self.edges.entry((from, to)).or_default().push(used);
        }
    }

    pub(crate) fn names(&self) -> &[&'c str] {
        &self.names
    }

    /// The edges with their uses: the node that uses first.
    pub(crate) fn edges(&self) -> impl Iterator<Item = ((usize, usize), &[&'c Use])> {
        self.edges.iter().map(|(edge, uses)| (*edge, &**uses))
    }

    /// The uses of one node by another.
    pub(crate) fn uses(&self, from: usize, to: usize) -> &[&'c Use] {
        self.edges.get(&(from, to)).map_or(&[], Vec::as_slice)
    }

    /// Groups of two or more nodes that all use each other, by whatever way.
    pub(crate) fn circles(&self) -> Vec<Vec<usize>> {
        self.groups().into_iter().filter(|group| group.len() > 1).collect()
    }

    /// The lines of an order from the bottom: the groups of a line do not use each other. A group of more than one
    /// node is a circle.
    pub(crate) fn order(&self) -> Vec<Vec<Vec<usize>>> {
        let groups = self.groups();
        let group_of = |node: usize| groups.iter().position(|group| group.contains(&node));
        let below: BTreeSet<_> = self
            .edges
            .keys()
            .map(|(from, to)| (group_of(*from), group_of(*to)))
            .filter(|(a, b)| a != b)
            .collect();
        let mut heights: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        // Groups have no circle, so that the heights settle after at most as many rounds as there are groups.
        for _ in &groups {
            for (user, used) in &below {
                let height = heights.get(used).copied().unwrap_or(0) + 1;
                let known = heights.entry(*user).or_insert(0);
                *known = height.max(*known);
            }
        }
        let mut lines: Vec<Vec<Vec<usize>>> = Vec::new();
        for (index, group) in groups.into_iter().enumerate() {
            let height = heights.get(&Some(index)).copied().unwrap_or(0);
            lines.resize(lines.len().max(height + 1), Vec::new());
            lines[height].push(group);
        }
        lines
    }

    /// An order of the nodes of a circle with few uses of higher nodes by lower ones, the lowest first.
    pub(crate) fn least_broken(&self, circle: &[usize]) -> Vec<usize> {
        let cost = |order: &[usize]| -> usize {
            let pairs = order
                .iter()
                .enumerate()
                .flat_map(|(at, low)| order[at + 1..].iter().map(move |high| (low, high)));
            pairs.map(|(low, high)| self.uses(*low, *high).len()).sum()
        };
        // A file is known before those below it: if the costs are equal, it comes last.
        let mut best: Vec<_> = circle.iter().rev().copied().collect();
        let mut best_cost = cost(&best);
        loop {
            let before = best_cost;
            for from in 0..best.len() {
                for to in 0..best.len() {
                    let mut moved = best.clone();
                    let node = moved.remove(from);
                    moved.insert(to, node);
                    let moved_cost = cost(&moved);
                    if moved_cost < best_cost {
                        (best, best_cost) = (moved, moved_cost);
                    }
                }
            }
            if best_cost == before {
                return best;
            }
        }
    }

    /// The nodes in groups: two are in one group if each can be reached from the other.
    fn groups(&self) -> Vec<Vec<usize>> {
        let reached: Vec<_> = (0..self.names.len()).map(|node| self.reached(node)).collect();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for node in 0..self.names.len() {
            let is_mate = |group: &&mut Vec<usize>| {
                reached[node].contains(&group[0]) && reached[group[0]].contains(&node)
            };
            match groups.iter_mut().find(is_mate) {
                Some(group) => group.push(node),
                None => groups.push(vec![node]),
            }
        }
        groups
    }

    fn reached(&self, start: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for ((_, to), _) in self.edges.range((node, 0)..=(node, usize::MAX)) {
                if reached.insert(*to) {
                    open.push(*to);
                }
            }
        }
        reached
    }
}
