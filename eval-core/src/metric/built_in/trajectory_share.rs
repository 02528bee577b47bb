//! `trajectory_precision` is the share of the tool calls made that were expected, and `trajectory_recall` the share of the
//! expected tool calls that were made.
//!
//! Source: the metrics of these names of Vertex AI's evaluation service, with ADK's equality of calls.

use eval_format::{Criterion, Invocation};

use super::calls::{Calls, share_of_calls};
use crate::metric::Score;
use crate::score::assign::assign_equal;
use crate::score::equality::ArgsMatch;
use crate::score::similarity::Share;

pub(super) const PRECISION: &str = "trajectory_precision";
pub(super) const RECALL: &str = "trajectory_recall";

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
}
