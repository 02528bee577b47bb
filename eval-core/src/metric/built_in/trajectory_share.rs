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
use crate::score::pairing::Pairing;
use crate::score::ruled::RuledCalls;
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

/// The precision of a turn with rules. Other calls that may be made do not count.
pub(super) fn ruled_precision(calls: &RuledCalls<'_>, _: &Criterion) -> Option<Score> {
    let Counts { pairs, others, missing, .. } = Counts::of(calls, &calls.in_any_order()?);
    Some(share(pairs, calls.actual.len() - others, missing, "calls made were expected"))
}

/// The recall of a turn with rules. An optional call that was not made does not count.
pub(super) fn ruled_recall(calls: &RuledCalls<'_>, _: &Criterion) -> Option<Score> {
    let Counts { made, missing, extra, .. } = Counts::of(calls, &calls.in_any_order()?);
    Some(share(made, made + missing, extra, "expected calls were made"))
}

/// The ratio of a turn with rules: its pairs, over the longer one of the lists without what may be left out or added.
pub(super) fn ruled_match_ratio(calls: &RuledCalls<'_>, _: &Criterion) -> Option<Score> {
    let Counts { pairs, missing, extra, .. } = Counts::of(calls, &calls.most()?);
    let order = if calls.is_in_any_order() { "in any order" } else { "in order" };
    Some(share(pairs, pairs + missing.max(extra), 0, &format!("calls match {order}")))
}

/// The calls of a pairing.
struct Counts {
    /// The actual calls with a partner.
    pairs: usize,
    /// The expected calls that were made.
    made: usize,
    /// The expected calls that were not made, and may not be left out.
    missing: usize,
    /// The actual calls without a partner that the case allows.
    others: usize,
    /// The actual calls without a partner that it does not allow.
    extra: usize,
}

impl Counts {
    fn of(calls: &RuledCalls<'_>, pairing: &Pairing) -> Self {
        let times = pairing.times(calls.expected.len());
        let is_missing = |(at, times): (usize, &usize)| *times == 0 && !calls.rules.is_optional(at);
        let alone = (0..calls.actual.len()).filter(|at| pairing.expected_of[*at].is_none());
        let (others, extra): (Vec<usize>, Vec<usize>) = alone.partition(|at| calls.is_other(*at));
        Self {
            pairs: pairing.expected_of.iter().flatten().count(),
            made: times.iter().filter(|times| **times > 0).count(),
            missing: times.iter().enumerate().filter(|call| is_missing(*call)).count(),
            others: others.len(),
            extra: extra.len(),
        }
    }
}

/// The share as a score with a note. Nothing of nothing is everything, unless the other list has calls that are `left`.
fn share(part: usize, whole: usize, left: usize, what: &str) -> Score {
    if whole == 0 {
        return Score::from(left == 0);
    }
    let score = Score::from(Share { part, whole }.value());
    if part == whole { score } else { score.note(format!("{part} of {whole} {what}")) }
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
