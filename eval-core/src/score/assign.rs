//! Pairs expected calls with actual calls in any order.

use std::collections::{HashMap, VecDeque};

use eval_format::FunctionCall;

use super::equality::{ArgsMatch, CallKey, calls_match};

/// For each expected call the index of the actual call that matches it, or `None`.
///
/// As many calls as possible are paired. An actual call is paired with one expected call at most. It takes time linear
/// in the number of calls, except with [`ArgsMatch::Subset`], for which every pair of calls is compared.
pub(crate) fn assign(
    expected: &[&FunctionCall],
    actual: &[&FunctionCall],
    args: ArgsMatch,
) -> Vec<Option<usize>> {
    match args {
        ArgsMatch::Exact | ArgsMatch::Ignore => assign_equal(expected, actual, args),
        ArgsMatch::Subset => assign_subset(expected, actual),
    }
}

/// Equal calls form groups, so an expected call takes the first unused actual call of its group.
fn assign_equal(expected: &[&FunctionCall], actual: &[&FunctionCall], args: ArgsMatch) -> Vec<Option<usize>> {
    let mut unused: HashMap<CallKey<'_>, VecDeque<usize>> = HashMap::new();
    for (at, call) in actual.iter().enumerate() {
        unused.entry(CallKey { call, args }).or_default().push_back(at);
    }
    expected.iter().map(|call| unused.get_mut(&CallKey { call, args })?.pop_front()).collect()
}

/// Maximum bipartite matching by augmenting paths, shortest first.
///
/// An actual call may match several different expected calls, so taking the first match could leave none for a stricter
/// expected call.
fn assign_subset(expected: &[&FunctionCall], actual: &[&FunctionCall]) -> Vec<Option<usize>> {
    let candidates: Vec<Vec<usize>> = expected
        .iter()
        .map(|call| {
            (0..actual.len()).filter(|at| calls_match(call, actual[*at], ArgsMatch::Subset)).collect()
        })
        .collect();
    let mut assignment =
        Assignment { actual_of: vec![None; expected.len()], expected_of: vec![None; actual.len()] };
    for start in 0..expected.len() {
        assignment.extend(start, &candidates);
    }
    assignment.actual_of
}

struct Assignment {
    actual_of: Vec<Option<usize>>,
    expected_of: Vec<Option<usize>>,
}

impl Assignment {
    /// Finds an actual call for one more expected call. Other expected calls may get other actual calls for it.
    fn extend(&mut self, start: usize, candidates: &[Vec<usize>]) {
        // For each actual call seen: the expected call it was reached from.
        let mut reached_from: Vec<Option<usize>> = vec![None; self.expected_of.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(expected) = queue.pop_front() {
            for &actual in &candidates[expected] {
                if reached_from[actual].is_some() {
                    continue;
                }
                reached_from[actual] = Some(expected);
                match self.expected_of[actual] {
                    Some(holder) => queue.push_back(holder),
                    None => return self.shift(actual, &reached_from),
                }
            }
        }
    }

    /// Gives a free actual call to the expected call it was reached from, that one's previous actual call to the
    /// expected call before it on the path, and so on back to the start.
    fn shift(&mut self, free: usize, reached_from: &[Option<usize>]) {
        let mut next = Some(free);
        while let Some(actual) = next {
            let Some(expected) = reached_from[actual] else { return };
            self.expected_of[actual] = Some(expected);
            next = self.actual_of[expected].replace(actual);
        }
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(found, places);
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
}
