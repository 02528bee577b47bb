//! `trajectory_match_ratio` measures how far the tool calls agree with the expected ones, in order: the length of the
//! longest common subsequence of both lists, over the length of the longer list.
//!
//! Source: adk-rs 0.6.0, which has it under ADK's name `tool_trajectory_avg_score`. adk-rs matches calls position by
//! position, so one extra call in front costs all of them, and two empty lists score 0.

use eval_format::{Criterion, FunctionCall, Invocation};

use super::calls::{Calls, share_of_calls};
use crate::metric::Score;
use crate::score::common_subsequence;
use crate::score::equality::{ArgsMatch, CallKey};
use crate::score::similarity::Share;

pub(super) const NAME: &str = "trajectory_match_ratio";

pub(super) fn turn(actual: &Invocation, expected: Option<&Invocation>, _: &Criterion) -> Score {
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
            check_calls(&of_function(turn), expected, actual, score);
        }
    }

    #[test]
    fn a_low_score_says_of_what() {
        let scores =
            compare(&of_function(turn), &[calling("a b")], &[calling("a x b")], &Criterion::new(1.0));
        assert_eq!(scores.scores()[0].notes(), ["2 of 3 calls match in order"]);
    }
}
