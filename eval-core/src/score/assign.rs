//! The pairing of expected calls with actual calls, in any order.

use std::collections::{HashMap, VecDeque};

use eval_format::{FunctionCall, Map, Value};

use super::equality::{ArgsMatch, CallKey, argument_hashes, calls_match};

/// The maximum number of steps of a search. Comparing two calls takes several steps, looking at a pair takes
/// one.
const MAX_STEPS: usize = 1 << 24;

/// For each expected call the index of the actual call that matches it, or `None`.
///
/// As many calls as possible are paired. An actual call is paired with one expected call at most. The time is
/// linear in the number of calls, except with [`ArgsMatch::Subset`] if thousands of expected calls each match
/// many actual calls. The result is `None` if the search would take seconds.
pub(crate) fn assign(
    expected: &[&FunctionCall],
    actual: &[&FunctionCall],
    args: ArgsMatch,
) -> Option<Vec<Option<usize>>> {
    match args {
        ArgsMatch::Exact | ArgsMatch::Ignore => Some(assign_equal(expected, actual, args)),
        ArgsMatch::Subset => assign_subset(expected, actual),
    }
}

/// Pairs calls with equal arguments. Equal calls form groups, so an expected call takes the first unused
/// actual call of its group.
pub(crate) fn assign_equal(
    expected: &[&FunctionCall],
    actual: &[&FunctionCall],
    args: ArgsMatch,
) -> Vec<Option<usize>> {
    let mut unused: HashMap<CallKey<'_>, VecDeque<usize>> = HashMap::new();
    for (at, call) in actual.iter().enumerate() {
        unused.entry(CallKey { call, args }).or_default().push_back(at);
    }
    expected.iter().map(|call| unused.get_mut(&CallKey { call, args })?.pop_front()).collect()
}

/// Pairs expected calls whose arguments are a part of an actual call's arguments.
///
/// Equal calls are paired first. That loses no pair: another expected call that matches the paired actual
/// call also matches every alternative to it. Expected calls without arguments are paired last, as they match
/// any call of their tool. The search comes between these two.
fn assign_subset(expected: &[&FunctionCall], actual: &[&FunctionCall]) -> Option<Vec<Option<usize>>> {
    let mut assignment = Assignment {
        actual_of: assign_equal(expected, actual, ArgsMatch::Exact),
        expected_of: vec![None; actual.len()],
        reached: vec![None; actual.len()],
        steps_left: MAX_STEPS,
    };
    for (at, found) in assignment.actual_of.iter().enumerate() {
        if let Some(found) = found {
            assignment.expected_of[*found] = Some(at);
        }
    }
    let open: Vec<usize> = (0..expected.len()).filter(|at| assignment.actual_of[*at].is_none()).collect();
    let (any, some): (Vec<usize>, Vec<usize>) =
        open.into_iter().partition(|at| expected[*at].args.as_ref().is_none_or(Map::is_empty));
    let candidates = assignment.candidates(expected, actual, &some)?;
    for start in some {
        assignment.extend(start, &candidates)?;
    }
    let mut unused: HashMap<Option<&str>, VecDeque<usize>> = HashMap::new();
    for at in (0..actual.len()).filter(|at| assignment.expected_of[*at].is_none()) {
        unused.entry(actual[at].name.as_deref()).or_default().push_back(at);
    }
    for at in any {
        let of_tool = unused.get_mut(&expected[at].name.as_deref());
        assignment.actual_of[at] = of_tool.and_then(VecDeque::pop_front);
    }
    Some(assignment.actual_of)
}

pub(super) fn weight_of_args(call: &FunctionCall) -> usize {
    call.args.as_ref().map_or(0, |args| args.iter().map(|(_, value)| weight(value)).sum())
}

fn weight(value: &Value) -> usize {
    match value {
        // Two numbers are compared by their digits.
        Value::Number(_) => 8,
        Value::String(text) => 1 + text.len() / 16,
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(map) => {
            1 + map.iter().map(|(key, value)| 1 + key.len() / 16 + weight(value)).sum::<usize>()
        }
        _ => 1,
    }
}

/// A maximum bipartite matching that grows by augmenting paths, shortest first.
///
/// An actual call may match several different expected calls, so taking the first match could leave none for a stricter
/// expected call.
struct Assignment {
    actual_of: Vec<Option<usize>>,
    expected_of: Vec<Option<usize>>,
    /// For each actual call: the expected call with which the last search that reached it began, and the
    /// expected call from which it was reached.
    reached: Vec<Option<(usize, usize)>>,
    steps_left: usize,
}

impl Assignment {
    fn step(&mut self, steps: usize) -> Option<()> {
        self.steps_left = self.steps_left.checked_sub(steps)?;
        Some(())
    }

    /// The free actual calls that match each of these expected calls. An expected call is compared only with
    /// the actual calls that have its rarest argument.
    fn candidates(
        &mut self,
        expected: &[&FunctionCall],
        actual: &[&FunctionCall],
        some: &[usize],
    ) -> Option<Vec<Vec<usize>>> {
        let mut with_argument: HashMap<u64, Vec<usize>> = HashMap::new();
        for at in (0..actual.len()).filter(|at| self.expected_of[*at].is_none()) {
            for argument in argument_hashes(actual[at]) {
                with_argument.entry(argument).or_default().push(at);
            }
        }
        let weights: Vec<usize> = some.iter().map(|at| weight_of_args(expected[*at])).collect();
        let mut candidates = vec![Vec::new(); expected.len()];
        for (&at, weight) in some.iter().zip(weights) {
            let call = expected[at];
            let lists = argument_hashes(call).map(|argument| with_argument.get(&argument));
            let rarest = lists.min_by_key(|list| list.map_or(0, Vec::len)).flatten();
            for &found in rarest.into_iter().flatten() {
                self.step(8 + weight)?;
                if calls_match(call, actual[found], ArgsMatch::Subset) {
                    candidates[at].push(found);
                }
            }
        }
        Some(candidates)
    }

    /// Finds an actual call for one more expected call. To make room, other expected calls may get other
    /// actual calls.
    fn extend(&mut self, start: usize, candidates: &[Vec<usize>]) -> Option<()> {
        let mut queue = VecDeque::from([start]);
        while let Some(expected) = queue.pop_front() {
            for &actual in &candidates[expected] {
                self.step(1)?;
                if self.reached[actual].is_some_and(|(search, _)| search == start) {
                    continue;
                }
                self.reached[actual] = Some((start, expected));
                match self.expected_of[actual] {
                    Some(holder) => queue.push_back(holder),
                    None => {
                        self.shift(actual);
                        return Some(());
                    }
                }
            }
        }
        Some(())
    }

    /// Shifts the actual calls along the path. The expected call from which the free actual call was reached
    /// gets it, the expected call before it on the path gets its previous one, and so on back to the start.
    fn shift(&mut self, free: usize) {
        let mut next = Some(free);
        while let Some(actual) = next {
            let Some((_, expected)) = self.reached[actual] else { return };
            self.expected_of[actual] = Some(expected);
            next = self.actual_of[expected].replace(actual);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn calls(args: &[serde_json::Value]) -> Vec<FunctionCall> {
        args.iter().map(|args| FunctionCall::new("f", args.clone())).collect()
    }

    fn check(
        expected: &[serde_json::Value],
        actual: &[serde_json::Value],
        args: ArgsMatch,
        places: &[Option<usize>],
    ) {
        let (expected, actual) = (calls(expected), calls(actual));
        let found = assign(&expected.iter().collect::<Vec<_>>(), &actual.iter().collect::<Vec<_>>(), args);
        assert_eq!(found.as_deref(), Some(places));
    }

    #[test]
    fn equal_calls_are_taken_in_order() {
        let [a, b] = [json!({"x": 1}), json!({"x": 2})];
        check(
            &[a.clone(), b.clone(), a.clone()],
            &[b, a.clone(), a],
            ArgsMatch::Exact,
            &[Some(1), Some(0), Some(2)],
        );
        check(&[json!({"x": 1}), json!({"x": 1})], &[json!({"x": true})], ArgsMatch::Exact, &[Some(0), None]);
        check(
            &[json!({}), json!({})],
            &[json!({"x": 1}), json!({"y": 1})],
            ArgsMatch::Ignore,
            &[Some(0), Some(1)],
        );
    }

    #[test]
    fn a_loose_expectation_leaves_room_for_a_strict_one() {
        let actual = [json!({"q": "a", "n": 1}), json!({"q": "b"}), json!({"n": 1})];
        check(&[json!({}), json!({"q": "a"})], &actual, ArgsMatch::Subset, &[Some(1), Some(0)]);
        check(
            &[json!({}), json!({"n": 1}), json!({"q": "a"})],
            &actual,
            ArgsMatch::Subset,
            &[Some(1), Some(2), Some(0)],
        );
        check(&[json!({"q": "a"}), json!({"q": "a"})], &actual, ArgsMatch::Subset, &[Some(0), None]);
    }

    /// The largest number of calls that can be paired, by trying all ways.
    fn most(expected: &[FunctionCall], actual: &[FunctionCall], used: &mut Vec<bool>) -> usize {
        let Some((first, rest)) = expected.split_first() else { return 0 };
        let mut count = most(rest, actual, used);
        for at in 0..actual.len() {
            if !used[at] && calls_match(first, &actual[at], ArgsMatch::Subset) {
                used[at] = true;
                count = count.max(1 + most(rest, actual, used));
                used[at] = false;
            }
        }
        count
    }

    fn call() -> impl Strategy<Value = FunctionCall> {
        let args = prop::collection::btree_map("[a-c]", prop::sample::select(vec![1.0, 2.0, f64::NAN]), 0..4);
        (prop::sample::select(vec!["f", "f", "g"]), prop::option::weighted(0.9, args)).prop_map(
            |(name, args)| {
                let mut call = FunctionCall::default();
                call.name = Some(name.to_owned());
                call.args = args.map(|args| args.into_iter().collect());
                call
            },
        )
    }

    proptest! {
        #[test]
        fn as_many_are_paired_as_can_be(
            expected in prop::collection::vec(call(), 0..6),
            actual in prop::collection::vec(call(), 0..6),
        ) {
            let lists: [Vec<&FunctionCall>; 2] = [expected.iter().collect(), actual.iter().collect()];
            let found = assign(&lists[0], &lists[1], ArgsMatch::Subset).unwrap();
            let mut used: Vec<usize> = found.iter().flatten().copied().collect();
            for (e, a) in found.iter().enumerate().filter_map(|(e, a)| Some((e, (*a)?))) {
                prop_assert!(calls_match(&expected[e], &actual[a], ArgsMatch::Subset));
            }
            let count = used.len();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), count);
            prop_assert_eq!(count, most(&expected, &actual, &mut vec![false; actual.len()]));
        }
    }

    #[test]
    fn thousands_of_calls_take_linear_time_or_none_at_all() {
        let made = |n: i64, more: i64| FunctionCall::new("f", json!({ "n": n, "all": 0, "more": more }));
        let wanted = |n: i64| FunctionCall::new("f", json!({ "n": n, "all": 0 }));
        let actual: Vec<FunctionCall> = (0..50_000).map(|n| made(n, 1)).collect();
        let actual: Vec<&FunctionCall> = actual.iter().collect();
        let backward: Vec<FunctionCall> = (0..50_000).rev().map(wanted).collect();
        let backward: Vec<&FunctionCall> = backward.iter().collect();
        let found = assign(&backward, &actual, ArgsMatch::Subset).unwrap();
        assert!(found.iter().flatten().copied().eq((0..50_000).rev()));
        // Each matches each.
        let loose = [FunctionCall::new("f", json!({ "all": 0 })), FunctionCall::new("f", json!({}))];
        assert_eq!(assign(&vec![&loose[0]; 50_000], &actual, ArgsMatch::Subset), None);
        let found = assign(&vec![&loose[1]; 50_000], &actual, ArgsMatch::Subset).unwrap();
        assert!(found.iter().all(Option::is_some));
    }
}
