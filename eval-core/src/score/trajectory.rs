//! Matching of a turn's tool calls with the expected ones: ADK's `tool_trajectory_avg_score` of one turn.

use eval_format::FunctionCall;
pub(crate) use eval_format::MatchType;

use super::assign::assign;
use super::equality::{ArgsMatch, calls_match};

/// Whether the actual calls match the expected ones: score 1.0 if they do, else 0.0. `None` if they are too many to be
/// paired.
pub(crate) fn trajectory_matches(
    expected: &[&FunctionCall],
    actual: &[&FunctionCall],
    match_type: MatchType,
    args: ArgsMatch,
) -> Option<bool> {
    Some(match match_type {
        MatchType::Exact => {
            expected.len() == actual.len()
                && expected.iter().zip(actual).all(|(expected, actual)| calls_match(expected, actual, args))
        }
        MatchType::InOrder => {
            let mut rest = actual.iter();
            expected.iter().all(|expected| rest.any(|actual| calls_match(expected, actual, args)))
        }
        MatchType::AnyOrder => {
            expected.len() <= actual.len() && assign(expected, actual, args)?.iter().all(Option::is_some)
        }
    })
}

/// The indices of the calls whose tool must not be called.
pub(crate) fn forbidden_calls<'a>(
    actual: &[&FunctionCall],
    forbidden_tools: impl IntoIterator<Item = &'a str>,
) -> Vec<usize> {
    let forbidden: std::collections::HashSet<&str> = forbidden_tools.into_iter().collect();
    let is_forbidden =
        |call: &FunctionCall| call.name.as_deref().is_some_and(|name| forbidden.contains(name));
    (0..actual.len()).filter(|at| is_forbidden(actual[*at])).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(name: &str, args: serde_json::Value) -> FunctionCall {
        FunctionCall::new(name, args)
    }

    /// A call that equals none, not even itself.
    fn nan() -> FunctionCall {
        FunctionCall::new("f", eval_format::Map::from([("x", f64::NAN)]))
    }

    #[test]
    fn a_subset_of_the_arguments_is_enough_when_asked_for() {
        let expected = call("search", json!({"q": "rust"}));
        let actual = call("search", json!({"q": "rust", "limit": 10}));
        for match_type in [MatchType::Exact, MatchType::InOrder, MatchType::AnyOrder] {
            for (args, matches) in
                [(ArgsMatch::Exact, false), (ArgsMatch::Subset, true), (ArgsMatch::Ignore, true)]
            {
                assert_eq!(trajectory_matches(&[&expected], &[&actual], match_type, args), Some(matches));
            }
            let found = trajectory_matches(&[&actual], &[&expected], match_type, ArgsMatch::Subset);
            assert_eq!(found, Some(false));
        }
    }

    #[test]
    fn forbidden_tools_are_found_by_name() {
        let (read, delete) = (call("read", json!({})), call("delete", json!({})));
        let nameless = FunctionCall::default();
        let actual = [&read, &delete, &nameless, &delete];
        assert_eq!(forbidden_calls(&actual, ["delete", "drop"]), [1, 3]);
        assert!(forbidden_calls(&actual, []).is_empty());
    }

    #[test]
    fn long_trajectories_take_linear_time() {
        let calls: Vec<FunctionCall> = (0..100_000_i64).map(|n| call("f", json!({ "n": n }))).collect();
        let forward: Vec<&FunctionCall> = calls.iter().collect();
        let backward: Vec<&FunctionCall> = calls.iter().rev().collect();
        let matches = |match_type| trajectory_matches(&forward, &backward, match_type, ArgsMatch::Exact);
        assert_eq!((matches(MatchType::AnyOrder), matches(MatchType::InOrder)), (Some(true), Some(false)));
        let nans: Vec<FunctionCall> = (0..100_000).map(|_| nan()).collect();
        let nans: Vec<&FunctionCall> = nans.iter().collect();
        assert_eq!(trajectory_matches(&nans, &nans, MatchType::AnyOrder, ArgsMatch::Exact), Some(false));
    }
}
