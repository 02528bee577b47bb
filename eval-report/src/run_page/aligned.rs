//! Calls side by side, in which a call that was made in another place is one line.

use std::collections::{HashMap, HashSet, VecDeque};

use eval_core::metric::arithmetic::{Pair, RuledCalls, align};
use eval_format::expect::TurnRules;
use eval_format::{ArgsMatch, FunctionCall, MatchType, Value};

/// A pair of calls, or an expected call that was made in another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallLine {
    Pair(Pair),
    /// The places of the expected call and of the actual one.
    Moved(usize, usize),
}

/// The calls side by side. An expected call that is missing where it belongs and made where none was expected is one line.
pub(super) fn aligned(
    expected: &[&FunctionCall],
    actual: &[&FunctionCall],
    match_type: MatchType,
    args: ArgsMatch,
    rules: &TurnRules,
) -> Vec<CallLine> {
    let pairs = if rules.is_literal() {
        align(expected, actual, match_type, args)
    } else {
        RuledCalls::new(expected, actual, rules, match_type, args).align()
    };
    let key = |call: &FunctionCall| {
        (call.name.clone(), call.args.clone().map(Value::from).map(|args| args.to_string()))
    };
    let mut extras: HashMap<_, VecDeque<usize>> = HashMap::new();
    for pair in &pairs {
        if let Pair::Extra(a) = *pair {
            extras.entry(key(actual[a])).or_default().push_back(a);
        }
    }
    let mut taken = HashSet::new();
    let mut lines: Vec<CallLine> = Vec::new();
    for pair in pairs {
        let moved = match pair {
            Pair::Missing(e) => {
                extras.get_mut(&key(expected[e])).and_then(VecDeque::pop_front).map(|a| (e, a))
            }
            _ => None,
        };
        taken.extend(moved.map(|(_, a)| a));
        lines.push(moved.map_or(CallLine::Pair(pair), |(e, a)| CallLine::Moved(e, a)));
    }
    lines.retain(|line| !matches!(line, CallLine::Pair(Pair::Extra(a)) if taken.contains(a)));
    lines
}

#[cfg(test)]
mod tests {
    use eval_format::expect::Rules;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_in_another_place_is_one_line() {
        let call = |name: &str| FunctionCall::new(name, json!({ "n": 1 }));
        let (a, b, c) = (&call("a"), &call("b"), &call("c"));
        let lines = |expected: &[&FunctionCall], actual: &[&FunctionCall]| {
            aligned(expected, actual, MatchType::Exact, ArgsMatch::Exact, Rules::default().turn(0))
        };
        let pair = CallLine::Pair;
        assert_eq!(
            lines(&[a, b, c], &[a, c, b]),
            [pair(Pair::Same(0, 0)), CallLine::Moved(1, 2), pair(Pair::Same(2, 1))]
        );
        // A second call of the kind was not expected.
        assert_eq!(
            lines(&[b, c], &[c, b, b]),
            [CallLine::Moved(0, 1), pair(Pair::Same(1, 0)), pair(Pair::Extra(2))]
        );
        assert_eq!(lines(&[a], &[b]), [pair(Pair::Missing(0)), pair(Pair::Extra(0))]);
    }
}
