//! Calls whose order does not matter: a matching that grows by augmenting paths.
//!
//! Each expected call that must be made needs an actual call, and each actual call that may not be extra needs an
//! expected one. If there is a matching that covers the first ones, and one that covers the others, there is one that
//! covers both (N. Mendelsohn, A. Dulmage, "Some generalizations of the problem of distinct representatives", 1958):
//! the first search never takes an actual call out of the matching, and the second one no expected call.

use std::collections::{HashMap, VecDeque};

use super::{Often, Pairing, Steps};

/// Expected calls that the same actual calls match.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// The expected calls.
    pub(crate) members: Vec<usize>,
    /// The actual calls.
    pub(crate) candidates: Vec<usize>,
}

/// Pairs calls in any order: as many expected calls as possible, then as many actual calls as possible. `None` if the
/// search would take seconds.
///
/// Each expected call is in one class. `is_allowed` has, for each actual call, whether it may be made although nothing
/// expects it. `equal` has, for each expected call, an actual call that is equal, if there is one left: these are paired
/// first.
pub(crate) fn any_order(
    classes: &[Class],
    often: &[Often],
    is_allowed: &[bool],
    equal: &[Option<usize>],
    steps: &Steps,
) -> Option<Pairing> {
    let mut matching = Matching::new(classes, is_allowed.len(), equal, steps)?;
    let sum = |of: fn(&Often) -> usize| -> Vec<usize> {
        let of_class =
            |class: &Class| class.members.iter().map(|at| of(&often[*at])).fold(0, usize::saturating_add);
        classes.iter().map(of_class).collect()
    };
    let (least, most) = (sum(|often| often.least()), sum(|often| often.most));
    let once: Vec<usize> = classes.iter().map(|class| class.members.len()).collect();
    let mut holds = true;
    for (wanted, is_needed) in [(&least, true), (&once, false)] {
        for class in 0..classes.len() {
            while matching.count[class] < wanted[class] {
                if !matching.give(class, wanted)? {
                    holds &= !is_needed;
                    break;
                }
            }
        }
    }
    for is_needed in [true, false] {
        for actual in (0..is_allowed.len()).filter(|at| is_allowed[*at] != is_needed) {
            let may_go = |other: usize| is_needed && is_allowed[other];
            if matching.class_of[actual].is_none() && !matching.place(actual, &most, may_go)? {
                holds &= !is_needed;
            }
        }
    }
    Some(Pairing { expected_of: matching.expected_of(often), holds })
}

/// Classes with the actual calls that they have.
struct Matching<'a> {
    classes: &'a [Class],
    /// For each actual call, the classes that it matches.
    matched_by: Vec<Vec<usize>>,
    class_of: Vec<Option<usize>>,
    /// For each class, the number of its actual calls.
    count: Vec<usize>,
    steps: &'a Steps,
}

impl<'a> Matching<'a> {
    fn new(classes: &'a [Class], actual: usize, equal: &[Option<usize>], steps: &'a Steps) -> Option<Self> {
        let mut matched_by = vec![Vec::new(); actual];
        let mut class_of = vec![None; actual];
        let mut count = vec![0; classes.len()];
        for (at, class) in classes.iter().enumerate() {
            steps.take(class.candidates.len())?;
            class.candidates.iter().for_each(|actual| matched_by[*actual].push(at));
            for actual in class.members.iter().filter_map(|member| equal[*member]) {
                class_of[actual] = Some(at);
                count[at] += 1;
            }
        }
        Some(Self { classes, matched_by, class_of, count, steps })
    }

    /// Finds one more actual call for a class: a free one, or one of a class that has more than it wants. Classes between
    /// the two change theirs. `false` if there is none.
    fn give(&mut self, start: usize, wanted: &[usize]) -> Option<bool> {
        // For each actual call, the class from which it was reached; for each class, its actual call by which it was.
        let mut from = HashMap::new();
        let mut by = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(class) = queue.pop_front() {
            for &actual in &self.classes[class].candidates {
                self.steps.take(1)?;
                if self.class_of[actual] == Some(class) || from.contains_key(&actual) {
                    continue;
                }
                from.insert(actual, class);
                match self.class_of[actual] {
                    Some(holder) if self.count[holder] <= wanted[holder] => {
                        if holder != start && !by.contains_key(&holder) {
                            by.insert(holder, actual);
                            queue.push_back(holder);
                        }
                    }
                    other => {
                        if let Some(holder) = other {
                            self.count[holder] -= 1;
                        }
                        self.count[start] += 1;
                        let mut next = Some(actual);
                        while let Some(actual) = next {
                            let class = from[&actual];
                            self.class_of[actual] = Some(class);
                            next = by.get(&class).copied().filter(|_| class != start);
                        }
                        return Some(true);
                    }
                }
            }
        }
        Some(false)
    }

    /// Finds a class for one more actual call: one that may have more, or one of whose actual calls `may_go` out of the
    /// matching. Actual calls between the two change their classes. `false` if there is none.
    fn place(&mut self, start: usize, most: &[usize], may_go: impl Fn(usize) -> bool) -> Option<bool> {
        // For each class, the actual call by which it was reached.
        let mut by = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(actual) = queue.pop_front() {
            for class in self.matched_by[actual].clone() {
                self.steps.take(1)?;
                if by.contains_key(&class) {
                    continue;
                }
                by.insert(class, actual);
                if self.count[class] < most[class] {
                    self.count[class] += 1;
                    self.shift(class, &by, start);
                    return Some(true);
                }
                for &held in &self.classes[class].candidates {
                    self.steps.take(1)?;
                    if self.class_of[held] != Some(class) {
                        continue;
                    }
                    if may_go(held) {
                        self.class_of[held] = None;
                        self.shift(class, &by, start);
                        return Some(true);
                    }
                    queue.push_back(held);
                }
            }
        }
        Some(false)
    }

    /// Gives the class the actual call by which it was reached, that call's class the one before it, and so on back to
    /// the start.
    fn shift(&mut self, class: usize, by: &HashMap<usize, usize>, start: usize) {
        let mut next = Some(class);
        while let Some(class) = next {
            let actual = by[&class];
            next = self.class_of[actual].replace(class).filter(|_| actual != start);
        }
    }

    /// The actual calls of a class make each of its calls that is needed, then each other one, then any again.
    fn expected_of(&self, often: &[Often]) -> Vec<Option<usize>> {
        let mut expected_of = vec![None; self.class_of.len()];
        let mut places: Vec<Box<dyn Iterator<Item = usize>>> = Vec::with_capacity(self.classes.len());
        for Class { members, .. } in self.classes {
            let of = |optional| members.iter().copied().filter(move |at| often[*at].optional == optional);
            let again = members.iter().flat_map(|at| std::iter::repeat_n(*at, often[*at].most - 1));
            places.push(Box::new(of(false).chain(of(true)).chain(again)));
        }
        for (at, class) in self.class_of.iter().enumerate() {
            expected_of[at] = class.and_then(|class| places[class].next());
        }
        expected_of
    }
}
