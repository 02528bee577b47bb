//! `trajectory_precision` is the share of the tool calls made that were expected, and `trajectory_recall` the share of the
//! expected tool calls that were made. `trajectory_match_ratio` is the length of the longest common subsequence of both
//! lists, over the length of the longer list.
//!
//! Source: Vertex AI's evaluation service for the first two, with ADK's equality of calls. adk-rs 0.6.0 for the last,
//! which has it under ADK's name `tool_trajectory_avg_score` and matches calls position by position: one extra call in
//! front costs all of them, and two empty lists score 0.

use eval_format::{Criterion, FunctionCall, Invocation};

use super::calls::{Calls, share_of_calls};
use crate::metric::Score;
use crate::score::assign::assign_equal;
use crate::score::common_subsequence;
use crate::score::equality::{ArgsMatch, CallKey};
use crate::score::similarity::Share;

pub(super) const PRECISION: &str = "trajectory_precision";
pub(super) const RECALL: &str = "trajectory_recall";
pub(super) const MATCH_RATIO: &str = "trajectory_match_ratio";

pub(super) fn precision(actual: &Invocation, expected: Option<&Invocation>, _: &Criterion) -> Score {
    let calls = Calls::of_turn(actual, expected);
    share_of_calls(matched(&calls, calls.actual.len()), "calls made were expected", &calls)
}

pub(super) fn recall(actual: &Invocation, expected: Option<&Invocation>, _: &Criterion) -> Score {
    let calls = Calls::of_turn(actual, expected);
    share_of_calls(matched(&calls, calls.expected.len()), "expected calls were made", &calls)
}

fn matched(calls: &Calls<'_>, whole: usize) -> Share {
    let pairs = assign_equal(&calls.expected, &calls.actual, ArgsMatch::Exact);
    Share { part: pairs.into_iter().flatten().count(), whole }
}

pub(super) fn match_ratio(actual: &Invocation, expected: Option<&Invocation>, _: &Criterion) -> Score {
    let calls = &Calls::of_turn(actual, expected);
    match common_subsequence::longest(keys(&calls.expected), keys(&calls.actual)) {
        Some(part) => {
            let whole = calls.expected.len().max(calls.actual.len());
            share_of_calls(Share { part, whole }, "calls match in order", calls)
        }
        None => Score::not_evaluated(format!(
            "{} expected and {} actual calls are too many to be matched in order; \
             `trajectory_recall` matches them in any order",
            calls.expected.len(),
            calls.actual.len()
        )),
    }
}

fn keys<'a>(calls: &[&'a FunctionCall]) -> impl Iterator<Item = CallKey<'a>> {
    calls.iter().map(|call| CallKey { call, args: ArgsMatch::Exact })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::of_function;
    use crate::metric::tests::computed::{calling, check_calls, compare};

    #[test]
    fn the_share_is_of_the_calls_made() {
        for (expected, actual, score) in [
            ("", "", 1.0),
            ("", "a", 0.0),
            ("a", "", 0.0),
            ("a b", "b a", 1.0),
            ("a b", "a", 1.0),
            ("a", "a a", 0.5),
            ("a a", "a b c", 1.0 / 3.0),
            ("👍", "👍 é", 0.5),
        ] {
            check_calls(&of_function(precision), expected, actual, score);
        }
    }

    #[test]
    fn a_low_precision_says_of_what() {
        let scores =
            compare(&of_function(precision), &[calling("a")], &[calling("a b c")], &Criterion::new(1.0));
        assert_eq!(scores.scores()[0].notes(), ["1 of 3 calls made were expected"]);
    }

    #[test]
    fn the_share_is_of_the_expected_calls() {
        for (expected, actual, score) in [
            ("", "", 1.0),
            ("", "a", 0.0),
            ("a", "", 0.0),
            ("a b", "b a", 1.0),
            ("a", "a b c", 1.0),
            ("a a", "a", 0.5),
            ("a b c", "c x", 1.0 / 3.0),
            ("👍 é", "👍", 0.5),
        ] {
            check_calls(&of_function(recall), expected, actual, score);
        }
    }

    #[test]
    fn a_low_recall_says_of_what() {
        let scores = compare(&of_function(recall), &[calling("a b")], &[calling("b")], &Criterion::new(1.0));
        assert_eq!(scores.scores()[0].notes(), ["1 of 2 expected calls were made"]);
    }

    #[test]
    fn calls_match_in_order_over_the_longer_list() {
        for (expected, actual, score) in [
            ("", "", 1.0),
            ("", "a", 0.0),
            ("a", "", 0.0),
            ("a b", "a b", 1.0),
            ("a b", "a", 0.5),
            ("a b", "b a", 0.5),
            ("a b", "x a b", 2.0 / 3.0),
            ("a b c", "a x c", 2.0 / 3.0),
            ("a a", "a a a", 2.0 / 3.0),
            ("👍 é", "👍", 0.5),
        ] {
            check_calls(&of_function(match_ratio), expected, actual, score);
        }
    }

    #[test]
    fn a_low_ratio_says_of_what() {
        let scores =
            compare(&of_function(match_ratio), &[calling("a b")], &[calling("a x b")], &Criterion::new(1.0));
        assert_eq!(scores.scores()[0].notes(), ["2 of 3 calls match in order"]);
    }
}
