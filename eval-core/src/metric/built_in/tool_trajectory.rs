//! `tool_trajectory_avg_score` is 1.0 for a turn whose tool calls are the expected ones, else 0.0. So are
//! `trajectory_exact_match`, `trajectory_in_order_match` and `trajectory_any_order_match`, with one `match_type` each.
//!
//! Source: `TrajectoryEvaluator` in `trajectory_evaluator.py` of google-adk 2.13.0. The keys `args_match` and
//! `forbidden_tools` are this project's. The other metrics have names of Vertex AI's evaluation service.

use eval_format::{Criterion, Invocation, MatchType};

use super::calls::Calls;
use crate::metric::Score;
use crate::score::ruled::RuledCalls;
use crate::score::trajectory::{forbidden_calls, trajectory_matches};

pub(super) const NAME: &str = "tool_trajectory_avg_score";
pub(super) const EXACT: &str = "trajectory_exact_match";
pub(super) const IN_ORDER: &str = "trajectory_in_order_match";
pub(super) const ANY_ORDER: &str = "trajectory_any_order_match";

pub(super) fn turn(actual: &Invocation, expected: Option<&Invocation>, criterion: &Criterion) -> Score {
    let calls = Calls::of_turn(actual, expected);
    let args = criterion.args_match();
    let found = trajectory_matches(&calls.expected, &calls.actual, criterion.match_type(), args);
    let Some(matches) = found else { return calls.too_many() };
    let forbidden = forbidden_calls(&calls.actual, criterion.forbidden_tools());
    let mut score = Score::from(matches && forbidden.is_empty());
    for at in &forbidden {
        let name = calls.actual[*at].name.as_deref().unwrap_or_default();
        score = score.note(format!("`{name}` was called, which `forbidden_tools` forbids"));
    }
    if matches { score } else { calls.explain(score, args) }
}

/// The score of a turn with rules.
pub(super) fn ruled(calls: &RuledCalls<'_>, criterion: &Criterion) -> Option<Score> {
    let matches = calls.pairing()?.holds;
    let forbidden = forbidden_calls(calls.actual, criterion.forbidden_tools());
    Some(Score::from(matches && forbidden.is_empty()))
}

pub(super) fn by(
    match_type: MatchType,
) -> impl Fn(&Invocation, Option<&Invocation>, &Criterion) -> Score + Send + Sync {
    let criterion = Criterion::new(1.0).with_match_type(match_type);
    move |actual, expected, _| turn(actual, expected, &criterion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::of_function;
    use crate::metric::tests::computed::check_calls;
    use eval_format::FunctionCall;
    use serde_json::json;

    fn score(expected: &Invocation, actual: &Invocation, criterion: &Criterion) -> Score {
        turn(actual, Some(expected), criterion)
    }

    fn calling(calls: &[(&str, serde_json::Value)]) -> Invocation {
        calls.iter().fold(Invocation::user("q"), |turn, (name, args)| {
            turn.call(FunctionCall::new(*name, args.clone()))
        })
    }

    #[test]
    fn forbidden_tools_make_a_turn_zero_and_are_named() {
        let criterion =
            Criterion::new(1.0).with("match_type", "ANY_ORDER").with("forbidden_tools", vec!["refund"]);
        let expected = calling(&[("lookup", json!({}))]);
        let fine = score(&expected, &calling(&[("lookup", json!({})), ("log", json!({}))]), &criterion);
        assert_eq!(fine.value(), Some(1.0));
        let bad = score(&expected, &calling(&[("lookup", json!({})), ("refund", json!({}))]), &criterion);
        assert_eq!(
            (bad.value(), bad.notes()),
            (Some(0.0), ["`refund` was called, which `forbidden_tools` forbids".to_owned()].as_slice())
        );
    }

    #[test]
    fn subset_allows_more_arguments_on_the_actual_side() {
        let criterion = Criterion::new(1.0).with("args_match", "subset");
        let expected = calling(&[("f", json!({ "x": 1 }))]);
        assert_eq!(
            score(&expected, &calling(&[("f", json!({ "x": 1, "y": 2 }))]), &criterion).value(),
            Some(1.0)
        );
        assert_eq!(score(&expected, &calling(&[("f", json!({ "y": 2 }))]), &criterion).value(), Some(0.0));
    }

    #[test]
    fn absent_and_empty_args_differ_and_it_says_so() {
        let mut bare = FunctionCall::default();
        bare.name = Some("f".to_owned());
        let score =
            score(&Invocation::user("q").call(bare), &calling(&[("f", json!({}))]), &Criterion::new(1.0));
        assert_eq!(score.value(), Some(0.0));
        assert!(score.notes()[0].contains("absent `args` and empty `args` differ"), "{score:?}");
    }

    #[test]
    fn no_intermediate_data_means_no_calls_and_it_says_so() {
        let expected = Invocation::user("q");
        assert_eq!(score(&expected, &Invocation::user("q"), &Criterion::new(1.0)).value(), Some(1.0));
        let called = score(&expected, &calling(&[("f", json!({}))]), &Criterion::new(1.0));
        assert_eq!(called.value(), Some(0.0));
        assert!(called.notes()[0].contains("no `intermediate_data`"));
    }

    #[test]
    fn calls_are_the_same_in_the_same_order() {
        for (expected, actual, score) in [
            ("", "", 1.0),
            ("a b", "a b", 1.0),
            ("a b", "b a", 0.0),
            ("a b", "a x b", 0.0),
            ("a a", "a", 0.0),
            ("a", "", 0.0),
            ("", "a", 0.0),
            ("é 👍", "é 👍", 1.0),
            ("é", "e\u{301}", 0.0),
        ] {
            check_calls(&of_function(by(MatchType::Exact)), expected, actual, score);
        }
    }

    #[test]
    fn expected_calls_come_in_order_with_others_between() {
        for (expected, actual, score) in [
            ("", "", 1.0),
            ("", "a", 1.0),
            ("a", "", 0.0),
            ("a b", "x a x b x", 1.0),
            ("a b", "b a", 0.0),
            ("a a", "a x", 0.0),
            ("a a", "a x a", 1.0),
            ("👍 é", "x 👍 é", 1.0),
        ] {
            check_calls(&of_function(by(MatchType::InOrder)), expected, actual, score);
        }
    }

    #[test]
    fn expected_calls_come_in_any_order_each_as_often_as_expected() {
        for (expected, actual, score) in [
            ("", "", 1.0),
            ("", "a", 1.0),
            ("a", "", 0.0),
            ("a b", "b x a", 1.0),
            ("a a", "a b", 0.0),
            ("a a b", "b a a", 1.0),
            ("👍 é", "é 👍", 1.0),
        ] {
            check_calls(&of_function(by(MatchType::AnyOrder)), expected, actual, score);
        }
    }
}
