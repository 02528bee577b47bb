//! Parts shared by the metrics that compare tool calls.

use eval_format::{ArgsMatch, FunctionCall, Invocation};

use crate::metric::Score;
use crate::score::equality::calls_match;
use crate::score::similarity::Share;

#[derive(Debug)]
pub(super) struct Calls<'a> {
    pub(super) expected: Vec<&'a FunctionCall>,
    pub(super) actual: Vec<&'a FunctionCall>,
    /// Whether the case has no `intermediate_data` for the turn. As in ADK, no calls are expected then.
    unstated: bool,
}

impl<'a> Calls<'a> {
    pub(super) fn of_turn(actual: &'a Invocation, expected: Option<&'a Invocation>) -> Self {
        Self {
            expected: expected.map(|turn| turn.tool_calls().collect()).unwrap_or_default(),
            actual: actual.tool_calls().collect(),
            unstated: expected.is_some_and(|turn| turn.intermediate_data.is_none()),
        }
    }

    /// Adds notes on causes of a low score that may be unexpected.
    pub(super) fn explain(&self, mut score: Score, args: ArgsMatch) -> Score {
        if self.unstated {
            score = score.note(
                "the case has no `intermediate_data` for this turn; as in ADK, no tool calls are expected then",
            );
        }
        if self.only_absent_args_differ(args) {
            score = score.note(
                "absent `args` and empty `args` differ, as in ADK; write `\"args\": {}` in the case, or use \
                 `tool_trajectory_avg_score` with `args_match: \"subset\"`",
            );
        }
        score
    }

    /// The score of calls that would take too long to be paired.
    pub(super) fn too_many(&self) -> Score {
        let (expected, actual) = (self.expected.len(), self.actual.len());
        Score::not_evaluated(format!(
            "{expected} expected and {actual} actual calls are too many to be paired by parts of their arguments; \
             `\"args_match\": \"exact\"` pairs any number"
        ))
    }

    /// Whether the calls would match if absent arguments were empty objects.
    fn only_absent_args_differ(&self, args: ArgsMatch) -> bool {
        let Self { expected, actual, .. } = self;
        let filled = |call: &&FunctionCall| {
            let mut filled = FunctionCall::clone(call);
            filled.args.get_or_insert_default();
            filled
        };
        expected.len() == actual.len()
            && expected.iter().zip(actual).any(|(e, a)| e.args.is_none() != a.args.is_none())
            && expected.iter().zip(actual).all(|(e, a)| calls_match(&filled(e), &filled(a), args))
    }
}

/// The score of calls that would take too long to be paired under the rules of the case.
pub(super) fn too_many(expected: usize, actual: usize) -> Score {
    if expected.min(actual) <= 1 {
        return Score::not_evaluated(
            "a list in the arguments is too long to be paired under the rules of `_expect`; without `unordered` and \
             `at_least` a list of any length is compared",
        );
    }
    Score::not_evaluated(format!(
        "{expected} expected and {actual} actual calls are too many to be paired under the rules of `_expect`; calls \
         without rules are paired in any number"
    ))
}

/// A share of calls as the score of a turn; 1 if neither side has calls.
///
/// A score below 1 has a note that names the share: `1 of 3 calls made were expected`.
pub(super) fn share_of_calls(share: Share, what: &str, calls: &Calls<'_>) -> Score {
    if calls.expected.is_empty() && calls.actual.is_empty() {
        return Score::from(1.0);
    }
    let score = Score::from(share.value());
    if score.value() == Some(1.0) {
        return score;
    }
    calls.explain(score.note(format!("{} of {} {what}", share.part, share.whole)), ArgsMatch::Exact)
}
