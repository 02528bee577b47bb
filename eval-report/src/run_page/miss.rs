//! The call that no golden answers: which one it was, and how it differs from the nearest golden.

use eval_core::__private::{NO_GOLDEN, in_short};
use eval_core::report::Role;
use eval_format::expect::{Relation, Rules, TurnRules};
use eval_format::{ArgsMatch, EvalCase, FunctionCall};

use super::difference::{MAX_SHOWN, arguments};
use super::wording;
use crate::journal::Evaluation;
use crate::page::line;
use crate::recorded::TestResult;

/// A call that no golden answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Miss {
    /// Its turn, from 1.
    pub(super) turn: usize,
    /// The call: its tool, and how its arguments differ from the arguments of the nearest golden.
    pub(super) call: String,
    /// Whether a golden of its turn is of this tool.
    pub(super) is_of_golden: bool,
}

impl Miss {
    /// The first miss of the first run that has one.
    pub(super) fn of_test(test: &TestResult<'_>, case: Option<&EvalCase>) -> Option<Self> {
        test.attempt.evaluations.iter().find_map(|run| Self::of_run(run, case))
    }

    /// The call that made a run an ERROR under golden tools; `None` if something else did, or if a golden has the call and was
    /// used up.
    pub(super) fn of_run(run: &Evaluation, case: Option<&EvalCase>) -> Option<Self> {
        let transcript = &run.ran.transcript;
        let error = transcript.error.as_ref().filter(|error| error.role == Role::Tools)?;
        let (_, told) = error.message.split_once(NO_GOLDEN)?;
        let (turn, case) = (error.turn?, case?);
        let at = turn.checked_sub(1)?;
        let made: Vec<_> = transcript.turns.get(at)?.invocation.tool_calls().collect();
        let goldens: Vec<_> = case.conversation.get(at)?.tool_calls().collect();
        let rules = Rules::of(case).unwrap_or_default();
        let is_of_golden = goldens.iter().any(|golden| golden.name.as_deref() == Some(tool(told)));
        missed(told, &made, &goldens, rules.turn(at)).map(|call| Self { turn, call, is_of_golden })
    }

    /// ``turn 2: no golden response for the call book_table: `time` expected “20:45” → actual “8:45 pm” ``.
    pub(super) fn said(&self) -> String {
        format!("turn {}: no golden response for the call {}", self.turn, self.call)
    }
}

/// The tool of the call that the message of a miss names.
fn tool(told: &str) -> &str {
    told.split(['(', ' ']).next().unwrap_or_default()
}

/// The call that the message of a miss names, with how it differs from the nearest golden of its tool. `told` is the end of
/// the message, from the call on.
fn missed(
    told: &str,
    made: &[&FunctionCall],
    goldens: &[&FunctionCall],
    rules: &TurnRules,
) -> Option<String> {
    // The golden of the tool with the fewest reasons why it does not answer.
    let nearest = |call: &FunctionCall| {
        let of_tool = goldens.iter().enumerate().filter(|(_, golden)| golden.name == call.name);
        let compared = of_tool.map(|(at, golden)| match rules.compare(at, golden, call, ArgsMatch::Exact) {
            Relation::Mismatch(reasons) => (at, reasons),
            _ => (at, Vec::new()),
        });
        compared.min_by_key(|(_, reasons)| reasons.len())
    };
    let is_told = |call: &FunctionCall| {
        told.strip_prefix(&*in_short(call)).is_some_and(|it| it.starts_with(" in turn "))
    };
    // An agent may record its call in another form than it asked.
    let is_alike = |call: &FunctionCall| {
        let behind = told.strip_prefix(call.name.as_deref().unwrap_or_default());
        let is_answered = || nearest(call).is_some_and(|(_, reasons)| reasons.is_empty());
        behind.is_some_and(|it| it.starts_with(['(', ' '])) && !is_answered()
    };
    let found = made.iter().find(|call| is_told(call)).or_else(|| made.iter().find(|call| is_alike(call)));
    let tool = line(tool(told));
    let Some((call, (at, reasons))) = found.and_then(|call| Some((call, nearest(call)?))) else {
        return Some(tool);
    };
    if reasons.is_empty() {
        return None;
    }
    let differs: Vec<String> = if rules.has_rules(at) {
        reasons.iter().take(MAX_SHOWN).map(|reason| line(&reason.to_string())).collect()
    } else {
        arguments(goldens[at].args.as_ref(), call.args.as_ref(), ArgsMatch::Exact)
    };
    Some(format!("{tool}: {}", wording::told(&differs.join(", "))))
}

#[cfg(test)]
mod tests {
    use eval_format::Invocation;

    use super::super::difference::tests::{made, value};
    use super::*;

    #[test]
    fn a_call_that_no_golden_answers_is_said_with_what_differs_from_the_nearest() {
        let golden = r#"[["book", {"people": 4, "time": "20:45"}], ["book", {"people": 1, "time": "9"}]]"#;
        let (late, equal) =
            (r#"["book", {"people": 4, "time": "8:45 pm"}]"#, r#"["book", {"people": 4, "time": "20:45"}]"#);
        let booked = "book: `time` expected “20:45” → actual “8:45 pm”";
        let (told_late, told_equal) =
            (r#"book(people: 4, time: "8:45 pm")"#, r#"book(people: 4, time: "20:45")"#);
        for (told, calls, rules, said) in [
            (told_late, format!("[{late}]"), "null", Some(booked)),
            // The agent goes on after its first miss.
            (told_late, format!(r#"[{late}, ["find", {{}}], ["book", {{}}]]"#), "null", Some(booked)),
            (told_late, format!("[{equal}, {late}]"), "null", Some(booked)),
            ("find()", format!(r#"[{equal}, ["find", {{}}], {late}]"#), "null", Some("find")),
            (told_equal, format!("[{equal}, {late}]"), "null", None),
            // The rules of the case say what differs.
            (
                r#"book(people: 2, time: "8:45 pm")"#,
                r#"[["book", {"people": 2, "time": "8:45 pm"}]]"#.to_owned(),
                r#"{"1": {"calls": {"book#1": {"time": "any"}}}}"#,
                Some("book: `people` is 2, not 4"),
            ),
            // The recorded call has another form than the one that was asked, or none was recorded.
            (r#"book(time: "8:45 pm", people: 4)"#, format!("[{equal}, {late}]"), "null", Some(booked)),
            ("book(x: 1)", "[]".to_owned(), "null", Some("book")),
        ] {
            let (calls, goldens) = (made(&calls), made(golden));
            let turn = goldens.iter().cloned().fold(Invocation::user("Hi"), Invocation::call);
            let case = EvalCase::new("c").turn(turn).with_extra(EvalCase::EXPECT_KEY, value(rules));
            let rules = Rules::of(&case).unwrap();
            let told = format!("{told} in turn 1; nearest: ..");
            let (calls, goldens): (Vec<_>, Vec<_>) = (calls.iter().collect(), goldens.iter().collect());
            assert_eq!(missed(&told, &calls, &goldens, rules.turn(0)).as_deref(), said, "{told}");
        }
        let miss = Miss { turn: 2, call: "find".to_owned(), is_of_golden: false };
        assert_eq!(miss.said(), "turn 2: no golden response for the call find");
    }
}
