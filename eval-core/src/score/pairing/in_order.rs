//! Calls whose order matters: one table over the expected and the actual calls.

use std::cmp::Reverse;

use super::{Fit, Often, Pairing, Steps};

/// Pairs calls in order; `None` if the search would take seconds.
///
/// `is_allowed` has, for each actual call, whether it may be made although nothing expects it. `fit` compares an
/// expected with an actual call. Of several pairings, one with the most equal calls is chosen, then one with the most
/// pairs.
pub(crate) fn in_order(
    often: &[Often],
    is_allowed: &[bool],
    fit: impl Fn(usize, usize) -> Option<Fit>,
    steps: &Steps,
) -> Option<Pairing> {
    let is_plain = often.iter().all(|often| *often == Often::ONCE);
    if is_plain && !is_allowed.contains(&true) {
        return one_by_one(often.len(), is_allowed.len(), fit);
    }
    let is_large = often.len().saturating_mul(is_allowed.len()) > MAX_SEARCHED_PAIRS;
    if is_plain && is_large && !is_allowed.contains(&false) {
        return first_that_fits(often.len(), is_allowed.len(), fit);
    }
    let table = Table::new(often, is_allowed, Gaps::Refused, fit, steps)?;
    let holds = table.best(table.rows.len(), is_allowed.len()).is_some();
    let expected_of = if holds { table.trace() } else { vec![None; is_allowed.len()] };
    Some(Pairing { expected_of, holds })
}

/// The number of pairs from which on the best pairing is not searched if any pairing is found faster.
const MAX_SEARCHED_PAIRS: usize = 1 << 16;

fn one_by_one(expected: usize, actual: usize, fit: impl Fn(usize, usize) -> Option<Fit>) -> Option<Pairing> {
    let mut holds = expected == actual;
    for at in 0..expected.min(actual) {
        holds = holds && fit(at, at)? != Fit::Not;
    }
    let expected_of = (0..actual).map(|at| holds.then_some(at)).collect();
    Some(Pairing { expected_of, holds })
}

/// Pairs each expected call with the first actual call that fits. In order, and with any other calls between, this leaves
/// the most for the expected calls after it.
fn first_that_fits(
    expected: usize,
    actual: usize,
    fit: impl Fn(usize, usize) -> Option<Fit>,
) -> Option<Pairing> {
    let mut expected_of = vec![None; actual];
    let mut next = 0;
    for (at, of) in expected_of.iter_mut().enumerate() {
        if next < expected && fit(next, at)? != Fit::Not {
            *of = Some(next);
            next += 1;
        }
    }
    Some(Pairing { expected_of, holds: next == expected })
}

/// Pairs calls in order so that the fewest are left without a partner that need one, whether that holds or not; `None`
/// if the search would take seconds.
pub(crate) fn most_in_order(
    often: &[Often],
    is_allowed: &[bool],
    fit: impl Fn(usize, usize) -> Option<Fit>,
    steps: &Steps,
) -> Option<Pairing> {
    let table = Table::new(often, is_allowed, Gaps::Counted, fit, steps)?;
    let holds = table.best(table.rows.len(), is_allowed.len()).is_some_and(|best| best.gaps.0 == 0);
    Some(Pairing { expected_of: table.trace(), holds })
}

/// A place in the list of expected calls: a call that may be repeated has several.
#[derive(Clone, Copy)]
struct Row {
    expected: usize,
    needed: bool,
}

/// The worth of a pairing: few calls that lack a partner, then its equal pairs, then its pairs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    gaps: Reverse<u32>,
    equal: u16,
    pairs: u16,
}

impl Worth {
    fn plus(self, fit: Fit) -> Self {
        // A table of at most 2^24 fields has at most 2^12 pairs.
        Self { equal: self.equal + u16::from(fit == Fit::Equal), pairs: self.pairs + 1, ..self }
    }
}

/// Calls that lack a partner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gaps {
    Refused,
    Counted,
}

impl Gaps {
    /// The worth of a pairing with one more call without a partner.
    fn beside(self, worth: Option<Worth>, may_lack_one: bool) -> Option<Worth> {
        match self {
            _ if may_lack_one => worth,
            Self::Refused => None,
            Self::Counted => worth.map(|worth| Worth { gaps: Reverse(worth.gaps.0 + 1), ..worth }),
        }
    }
}

/// For each number of rows and of actual calls: the best pairing of the first rows with the first actual calls; `None` if
/// there is none.
struct Table<'a> {
    rows: Vec<Row>,
    is_allowed: &'a [bool],
    gaps: Gaps,
    best: Vec<Option<Worth>>,
}

impl<'a> Table<'a> {
    fn new(
        often: &[Often],
        is_allowed: &'a [bool],
        gaps: Gaps,
        fit: impl Fn(usize, usize) -> Option<Fit>,
        steps: &Steps,
    ) -> Option<Self> {
        let width = is_allowed.len() + 1;
        let mut rows = Vec::new();
        for (expected, often) in often.iter().enumerate() {
            let most = often.most.min(is_allowed.len()).max(often.least());
            steps.take(most.max(1).checked_mul(width)?)?;
            rows.extend((0..most).map(|at| Row { expected, needed: at < often.least() }));
        }
        let mut best = Vec::with_capacity((rows.len() + 1) * width);
        best.push(Some(Worth { gaps: Reverse(0), equal: 0, pairs: 0 }));
        for at in 0..is_allowed.len() {
            best.push(gaps.beside(best[at], is_allowed[at]));
        }
        // The rows of a call that may be repeated compare it with the same actual calls.
        let mut compared: (usize, Vec<Option<Fit>>) = (usize::MAX, Vec::new());
        for (row, Row { expected, needed }) in rows.iter().enumerate() {
            if compared.0 != *expected {
                compared = (*expected, vec![None; is_allowed.len()]);
            }
            let above = row * width;
            for at in 0..width {
                let mut found = gaps.beside(best[above + at], !needed);
                if at > 0 {
                    found = found.max(gaps.beside(best[above + width + at - 1], is_allowed[at - 1]));
                    if let Some(before) = best[above + at - 1] {
                        let fit = match compared.1[at - 1] {
                            Some(known) => known,
                            None => *compared.1[at - 1].insert(fit(*expected, at - 1)?),
                        };
                        found = found.max((fit != Fit::Not).then(|| before.plus(fit)));
                    }
                }
                best.push(found);
            }
        }
        Some(Self { rows, is_allowed, gaps, best })
    }

    fn best(&self, rows: usize, actual: usize) -> Option<Worth> {
        self.best[rows * (self.is_allowed.len() + 1) + actual]
    }

    /// The expected call of each actual call, on the way back from the last field to the first one.
    fn trace(&self) -> Vec<Option<usize>> {
        let mut expected_of = vec![None; self.is_allowed.len()];
        let (mut row, mut actual) = (self.rows.len(), self.is_allowed.len());
        while row > 0 || actual > 0 {
            let here = self.best(row, actual);
            let is_extra = |at: usize| self.gaps.beside(self.best(row, at), self.is_allowed[at]) == here;
            let is_left_out =
                |at: usize| self.gaps.beside(self.best(at, actual), !self.rows[at].needed) == here;
            if actual > 0 && is_extra(actual - 1) {
                actual -= 1;
            } else if row > 0 && is_left_out(row - 1) {
                row -= 1;
            } else if row > 0 && actual > 0 {
                (row, actual) = (row - 1, actual - 1);
                expected_of[actual] = Some(self.rows[row].expected);
            } else {
                // Each field that has a pairing has a way back, so this is not reached.
                break;
            }
        }
        expected_of
    }
}
