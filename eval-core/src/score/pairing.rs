//! The pairing of expected calls with actual calls, for turns in which calls may be left out, repeated or added.
//!
//! Any relation may say which calls match. Equality forms groups, and other relations do not: a call that matches two
//! expected calls may have to leave one of them to another call, so pairs are searched.

mod any_order;
mod in_order;
#[cfg(test)]
mod tests;

use std::cell::Cell;

pub(crate) use any_order::{Class, any_order};
pub(crate) use in_order::{in_order, most_in_order};

/// The maximum number of steps of a search. Comparing two calls takes several steps, looking at a pair takes one.
pub(crate) const MAX_STEPS: usize = 1 << 24;

/// The number of times that an expected call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Often {
    /// Whether it may be left out.
    pub(crate) optional: bool,
    /// The most times that it is made, from 1.
    pub(crate) most: usize,
}

impl Often {
    pub(crate) const ONCE: Self = Self { optional: false, most: 1 };

    fn least(self) -> usize {
        usize::from(!self.optional)
    }
}

/// Whether an actual call fits an expected call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// It is another call.
    Not,
    /// A rule says so.
    Loosely,
    /// They are equal.
    Equal,
}

/// The actual calls with the expected calls that they make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// For each actual call the expected call that it makes; `None` for another call.
    pub(crate) expected_of: Vec<Option<usize>>,
    /// Whether all required calls are made, and no forbidden one.
    pub(crate) holds: bool,
}

impl Pairing {
    /// The number of times that each of `expected` calls is made.
    pub(crate) fn times(&self, expected: usize) -> Vec<usize> {
        let mut times = vec![0; expected];
        self.expected_of.iter().flatten().for_each(|at| times[*at] += 1);
        times
    }
}

/// The steps that a search has left.
#[derive(Debug)]
pub(crate) struct Steps(Cell<usize>);

impl Steps {
    pub(crate) fn new(most: usize) -> Self {
        Self(Cell::new(most))
    }

    /// Takes steps; `None` if too few are left.
    pub(crate) fn take(&self, steps: usize) -> Option<()> {
        self.0.set(self.0.get().checked_sub(steps)?);
        Some(())
    }
}
