//! The alignment of expected and actual calls, for the report of a failure.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use eval_format::metric::Subject;
use eval_format::{Criterion, FunctionCall, MatchType};

use super::assign::assign;
use super::equality::{ArgsMatch, calls_match};

/// A line of the alignment, with the indices of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// An expected call and the actual call that matches it.
    Same(usize, usize),
    /// An expected call and an actual call that matches it by a rule of the case only.
    Loosened(usize, usize),
    /// An expected call and an actual call of the same tool with other arguments.
    Changed(usize, usize),
    /// An expected call that was not made.
    Missing(usize),
    /// An expected call that was not made, and that may be left out.
    LeftOut(usize),
    /// An actual call that was not expected.
    Extra(usize),
    /// An actual call that was not expected, and that a rule of the case allows.
    Other(usize),
}

/// The way in which a metric compares calls, from its criterion or by default. `None` for a metric that
/// compares no calls.
pub fn comparison(metric: &str, criterion: Option<&Criterion>) -> Option<(MatchType, ArgsMatch)> {
    let Subject::ToolCalls(by_default) = eval_format::metric::metric(metric)?.compares else { return None };
    let named = criterion.filter(|criterion| criterion.get("match_type").is_some());
    let match_type = named.map_or(by_default, Criterion::match_type);
    Some((match_type, criterion.map(Criterion::args_match).unwrap_or_default()))
}

/// Aligns calls in the way in which a metric with these options compares them.
pub fn align(
    expected: &[&FunctionCall],
    actual: &[&FunctionCall],
    match_type: MatchType,
    args: ArgsMatch,
) -> Vec<Pair> {
    let calls = Lists { expected, actual, same: &|e, a| calls_match(expected[e], actual[a], args) };
    if match_type != MatchType::AnyOrder {
        return calls.in_order();
    }
    match assign(expected, actual, args) {
        Some(assigned) => calls.in_any_order(|e| assigned[e]),
        // Too many calls to be paired are aligned in order.
        None => calls.in_order(),
    }
}

/// The largest number of pairs of calls for which the best alignment is searched.
const SEARCHED_PAIRS: usize = 1 << 16;

/// Expected and actual calls, with a relation that says which are the same, by their indices.
#[derive(Clone, Copy)]
pub(crate) struct Lists<'a> {
    pub(crate) expected: &'a [&'a FunctionCall],
    pub(crate) actual: &'a [&'a FunctionCall],
    pub(crate) same: &'a dyn Fn(usize, usize) -> bool,
}

impl Lists<'_> {
    /// Aligns calls whose order matters: as many as possible are the same, then as many as possible changed.
    ///
    /// Long lists that differ in many places are compared position by position.
    pub(crate) fn in_order(&self) -> Vec<Pair> {
        let (rows, columns) = (self.expected.len(), self.actual.len());
        let shorter = rows.min(columns);
        let prefix = (0..shorter).take_while(|at| (self.same)(*at, *at)).count();
        let is_suffix = |at: &usize| (self.same)(rows - at, columns - at);
        let suffix = (1..=shorter - prefix).take_while(is_suffix).count();
        let (expected_end, actual_end) = (rows - suffix, columns - suffix);
        let middle = Middle { lists: self, expected: prefix..expected_end, actual: prefix..actual_end };

        let mut pairs: Vec<Pair> = (0..prefix).map(|at| Pair::Same(at, at)).collect();
        if middle.expected.len().saturating_mul(middle.actual.len()) <= SEARCHED_PAIRS {
            middle.search(&mut pairs);
        } else {
            middle.zip(&mut pairs);
        }
        pairs.extend((0..suffix).map(|at| Pair::Same(expected_end + at, actual_end + at)));
        pairs
    }

    /// Aligns calls whose order does not matter: the expected calls in their order, then the remaining actual calls.
    /// `made` has the actual calls that an expected call was made by.
    pub(crate) fn in_any_order<M: IntoIterator<Item = usize>>(&self, made: impl Fn(usize) -> M) -> Vec<Pair> {
        let Self { expected, actual, .. } = self;
        let mut used = vec![false; actual.len()];
        (0..expected.len()).flat_map(&made).for_each(|at| used[at] = true);
        let mut unused: HashMap<Option<&str>, VecDeque<usize>> = HashMap::new();
        for at in (0..actual.len()).filter(|at| !used[*at]) {
            unused.entry(actual[at].name.as_deref()).or_default().push_back(at);
        }

        let mut pairs = Vec::with_capacity(expected.len());
        for e in 0..expected.len() {
            let before = pairs.len();
            pairs.extend(made(e).into_iter().map(|a| Pair::Same(e, a)));
            if pairs.len() > before {
                continue;
            }
            let changed = unused.get_mut(&expected[e].name.as_deref()).and_then(VecDeque::pop_front);
            pairs.push(match changed {
                Some(a) => {
                    used[a] = true;
                    Pair::Changed(e, a)
                }
                None => Pair::Missing(e),
            });
        }
        pairs.extend((0..actual.len()).filter(|at| !used[*at]).map(Pair::Extra));
        pairs
    }
}

/// The part of two lists between their equal beginnings and ends.
struct Middle<'a> {
    lists: &'a Lists<'a>,
    expected: Range<usize>,
    actual: Range<usize>,
}

/// The worth of a pair of calls: one call that is the same is worth more than any number of changed calls.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    same: u32,
    changed: u32,
}

impl Middle<'_> {
    /// The worth of two calls as a pair; `None` if their tools differ.
    fn worth(&self, e: usize, a: usize) -> Option<Worth> {
        let (e, a) = (e + self.expected.start, a + self.actual.start);
        if self.lists.expected[e].name != self.lists.actual[a].name {
            return None;
        }
        let same = (self.lists.same)(e, a);
        Some(Worth { same: u32::from(same), changed: u32::from(!same) })
    }

    fn pair(&self, e: usize, a: usize, worth: Worth) -> Pair {
        let make = if worth.same > 0 { Pair::Same } else { Pair::Changed };
        make(e + self.expected.start, a + self.actual.start)
    }

    /// Finds the alignment of the greatest worth, with the table of the longest common subsequence.
    fn search(&self, pairs: &mut Vec<Pair>) {
        let (rows, columns) = (self.expected.len(), self.actual.len());
        // The greatest worth of the rest of both lists, for each pair of indices.
        let width = columns + 1;
        let mut best = vec![Worth::default(); (rows + 1) * width];
        for e in (0..rows).rev() {
            for a in (0..columns).rev() {
                let at = e * width + a;
                let apart = best[at + width].max(best[at + 1]);
                let together = self.worth(e, a).map(|worth| worth.plus(best[at + width + 1]));
                best[at] = together.unwrap_or_default().max(apart);
            }
        }
        let (mut e, mut a) = (0, 0);
        while e < rows && a < columns {
            let at = e * width + a;
            match self.worth(e, a) {
                Some(worth) if worth.plus(best[at + width + 1]) == best[at] => {
                    pairs.push(self.pair(e, a, worth));
                    (e, a) = (e + 1, a + 1);
                }
                _ if best[at + width] == best[at] => {
                    pairs.push(Pair::Missing(e + self.expected.start));
                    e += 1;
                }
                _ => {
                    pairs.push(Pair::Extra(a + self.actual.start));
                    a += 1;
                }
            }
        }
        self.rest(e, a, pairs);
    }

    fn zip(&self, pairs: &mut Vec<Pair>) {
        let shorter = self.expected.len().min(self.actual.len());
        for at in 0..shorter {
            match self.worth(at, at) {
                Some(worth) => pairs.push(self.pair(at, at, worth)),
                None => pairs
                    .extend([Pair::Missing(at + self.expected.start), Pair::Extra(at + self.actual.start)]),
            }
        }
        self.rest(shorter, shorter, pairs);
    }

    fn rest(&self, e: usize, a: usize, pairs: &mut Vec<Pair>) {
        pairs.extend((e..self.expected.len()).map(|e| Pair::Missing(e + self.expected.start)));
        pairs.extend((a..self.actual.len()).map(|a| Pair::Extra(a + self.actual.start)));
    }
}

impl Worth {
    fn plus(self, other: Self) -> Self {
        Self { same: self.same + other.same, changed: self.changed + other.changed }
    }
}

#[cfg(test)]
mod tests {
    use super::Pair::{Changed, Extra, LeftOut, Loosened, Missing, Other, Same};
    use super::*;
    use serde_json::json;

    /// Reads `f1 g` as calls of `f` with an argument and of `g` without.
    fn calls(text: &str) -> Vec<FunctionCall> {
        let call = |word: &str| match word.split_at(1) {
            (name, "") => FunctionCall::new(name, json!({})),
            (name, argument) => FunctionCall::new(name, json!({ "x": argument })),
        };
        text.split_whitespace().map(call).collect()
    }

    fn aligned(match_type: MatchType, expected: &str, actual: &str) -> Vec<Pair> {
        let (expected, actual) = (calls(expected), calls(actual));
        let references = |calls: &'static [FunctionCall]| calls.iter().collect::<Vec<_>>();
        align(&references(expected.leak()), &references(actual.leak()), match_type, ArgsMatch::Exact)
    }

    #[test]
    fn calls_are_compared_as_the_criterion_says_or_as_the_metric_does() {
        let plain = Criterion::new(1.0);
        let named = plain.clone().with_match_type(MatchType::AnyOrder);
        for (metric, criterion, match_type) in [
            ("tool_trajectory_avg_score", None, Some(MatchType::Exact)),
            ("tool_trajectory_avg_score", Some(&plain), Some(MatchType::Exact)),
            ("tool_trajectory_avg_score", Some(&named), Some(MatchType::AnyOrder)),
            ("trajectory_exact_match", None, Some(MatchType::Exact)),
            ("trajectory_in_order_match", Some(&plain), Some(MatchType::InOrder)),
            ("trajectory_any_order_match", None, Some(MatchType::AnyOrder)),
            ("response_match_score", Some(&plain), None),
            ("my_own", Some(&named), None),
        ] {
            let found = comparison(metric, criterion);
            assert_eq!(found, match_type.map(|it| (it, ArgsMatch::default())), "{metric}");
        }
    }

    #[test]
    fn pairs_in_order_do_not_cross() {
        for (expected, actual, pairs) in [
            ("", "", vec![]),
            ("f g", "f g", vec![Same(0, 0), Same(1, 1)]),
            ("f1 g", "f2 g", vec![Changed(0, 0), Same(1, 1)]),
            ("f g", "g", vec![Missing(0), Same(1, 0)]),
            ("g", "f g h", vec![Extra(0), Same(0, 1), Extra(2)]),
            ("f g", "g f", vec![Missing(0), Same(1, 0), Extra(1)]),
            ("f", "g", vec![Missing(0), Extra(0)]),
            ("f1 f2", "f2", vec![Missing(0), Same(1, 0)]),
            ("f1 f2 g", "f2 f1 h", vec![Missing(0), Same(1, 0), Missing(2), Extra(1), Extra(2)]),
        ] {
            assert_eq!(aligned(MatchType::InOrder, expected, actual), pairs, "{expected} / {actual}");
        }
    }

    #[test]
    fn in_any_order_equal_calls_are_paired_first() {
        for (expected, actual, pairs) in [
            ("f g", "g f", vec![Same(0, 1), Same(1, 0)]),
            ("f1 g", "g f2 h", vec![Changed(0, 1), Same(1, 0), Extra(2)]),
            ("f1 f1", "f1", vec![Same(0, 0), Missing(1)]),
            ("f1 f2", "f2 f3 f4", vec![Changed(0, 1), Same(1, 0), Extra(2)]),
        ] {
            assert_eq!(aligned(MatchType::AnyOrder, expected, actual), pairs, "{expected} / {actual}");
        }
    }

    #[test]
    fn long_lists_are_compared_position_by_position() {
        let many =
            |first: usize| (first..first + 20_000).map(|n| format!("f{n}")).collect::<Vec<_>>().join(" ");
        let pairs = aligned(MatchType::InOrder, &format!("g {} g", many(0)), &format!("g h {} g", many(1)));
        assert_eq!(pairs.len(), 20_004);
        assert_eq!(pairs[..3], [Same(0, 0), Missing(1), Extra(1)]);
        assert_eq!(pairs.last(), Some(&Same(20_001, 20_002)));
    }

    #[test]
    fn every_call_is_named_once() {
        let (expected, actual) = ("f1 g h f2 k1 k2", "g f1 f2 f2 k2 m");
        for match_type in [MatchType::Exact, MatchType::AnyOrder] {
            let pairs = aligned(match_type, expected, actual);
            let mut expecteds: Vec<usize> = Vec::new();
            let mut actuals: Vec<usize> = Vec::new();
            for pair in pairs {
                match pair {
                    Same(e, a) | Changed(e, a) | Loosened(e, a) => {
                        expecteds.push(e);
                        actuals.push(a);
                    }
                    Missing(e) | LeftOut(e) => expecteds.push(e),
                    Extra(a) | Other(a) => actuals.push(a),
                }
            }
            actuals.sort_unstable();
            assert_eq!((expecteds, actuals), ((0..6).collect(), (0..6).collect()));
        }
    }
}
