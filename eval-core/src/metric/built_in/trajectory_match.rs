//! `trajectory_exact_match`, `trajectory_in_order_match` and `trajectory_any_order_match`: 1 for a turn that makes the
//! expected tool calls, else 0. Each is `tool_trajectory_avg_score` with one `match_type`.
//!
//! Source: the metrics of these names of Vertex AI's evaluation service, with ADK's equality of calls.

use eval_format::{Criterion, Invocation, MatchType};

use super::tool_trajectory;
use crate::metric::Score;

pub(super) const EXACT: &str = "trajectory_exact_match";
pub(super) const IN_ORDER: &str = "trajectory_in_order_match";
pub(super) const ANY_ORDER: &str = "trajectory_any_order_match";

pub(super) fn by(
    match_type: MatchType,
) -> impl Fn(&Invocation, Option<&Invocation>, &Criterion) -> Score + Send + Sync {
    let criterion = Criterion::new(1.0).with_match_type(match_type);
    move |actual, expected, _| tool_trajectory::turn(actual, expected, &criterion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::of_function;
    use crate::metric::tests::computed::check_calls;

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
