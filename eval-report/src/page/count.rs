//! The differences of a run, counted. The head of a case, each turn and the keys that lead from one to the next all show these
//! numbers.
//!
//! A difference is a place where a run did not do what was expected: a call that is missing, not expected, or in another place;
//! an argument of a call; words or lines of the answer that follow each other, or a key in it; what is beside the text of an
//! answer; a key of the session state. Errors do not count, nor what a
//! run did not come to because of them.

use super::comparison::Block;
use super::details::{Call, CallState, Run, Turn};
use super::diff::{Part, PartSide};
use super::keys::Keys;

impl Run {
    /// The run with its differences counted.
    #[must_use]
    pub fn counted(mut self) -> Self {
        for turn in &mut self.turns {
            for call in &mut turn.calls {
                call.differences = of_call(call);
            }
            turn.in_answer = in_answer(turn);
            let beside = usize::from(turn.played && turn.other_parts);
            let calls = turn.calls.iter().map(|call| call.differences).sum::<usize>();
            turn.differences = if turn.played { calls + turn.in_answer + beside } else { 0 };
        }
        let of_state = self.state_rows.iter().filter(|row| row.differs).count();
        self.differences = self.turns.iter().map(|turn| turn.differences).sum::<usize>() + of_state;
        self
    }
}

fn of_call(call: &Call) -> usize {
    match call.is {
        CallState::Changed => call.keys.as_ref().map_or(1, of_keys).max(1),
        state => usize::from(state.differs()),
    }
}

fn in_answer(turn: &Turn) -> usize {
    if !turn.played || turn.expected.is_none() || turn.same {
        return 0;
    }
    match &turn.actual {
        None if turn.broke => 0,
        Some(actual) if turn.expected.as_ref() == Some(actual) && !turn.hidden => 0,
        _ => turn.diff.iter().map(of_block).sum::<usize>().max(1),
    }
}

fn of_block(block: &Block) -> usize {
    match block {
        Block::Words { parts } | Block::Lines { parts } => parts
            .chunk_by(|one, other| is_equal(one) == is_equal(other))
            .filter(|all| !is_equal(&all[0]))
            .count(),
        Block::Keys(keys) => of_keys(keys),
    }
}

fn is_equal(part: &Part) -> bool {
    part.side == PartSide::Both
}

fn of_keys(keys: &Keys) -> usize {
    keys.rows.iter().filter(|row| row.differs()).count()
}

#[cfg(test)]
mod tests {
    use eval_format::Value;

    use super::*;
    use crate::page::{StateRow, keys_of_calls, text, texts};

    fn call(is: CallState) -> Call {
        Call { is, ..Call::default() }
    }

    fn args(json: &str) -> eval_format::Map {
        Value::parse(json).unwrap().as_object().unwrap().clone()
    }

    fn answered(expected: &str, actual: &str) -> Turn {
        Turn {
            played: true,
            expected: Some(text(expected)),
            actual: Some(text(actual)),
            same: expected == actual,
            diff: texts(expected, actual),
            ..Turn::default()
        }
    }

    fn count(turn: Turn) -> usize {
        Run::of_turns(vec![turn]).differences
    }

    #[test]
    fn calls_arguments_parts_of_answers_and_keys_of_the_state_are_counted() {
        let keys = keys_of_calls(
            &args(r#"{"a": 1, "b": 2, "c": [1], "d": 0}"#),
            &args(r#"{"a": 1, "b": 3, "c": [2], "e": 0}"#),
            false,
        );
        let changed = Call { keys: Some(keys), ..call(CallState::Changed) };
        for (is, differences) in [
            (CallState::Same, 0),
            (CallState::Made, 0),
            (CallState::Loosened, 0),
            (CallState::LeftOut, 0),
            (CallState::Other, 0),
            (CallState::Missing, 1),
            (CallState::Extra, 1),
            (CallState::Moved, 1),
            (CallState::Changed, 1),
            (CallState::Unreached, 0),
            (CallState::Unanswered, 0),
        ] {
            assert_eq!(of_call(&call(is)), differences, "{is:?}");
        }
        assert_eq!(of_call(&changed), 4);
        for (expected, actual, differences) in [
            ("It is sunny in Oslo.", "It is sunny in Oslo.", 0),
            ("It is sunny in Oslo.", "It is rainy in Rome.", 2),
            ("It is sunny.", "It is sunny.  ", 1),
            (r#"{"a": 1, "b": 2}"#, r#"{"a": 2, "c": 2}"#, 3),
        ] {
            assert_eq!(count(answered(expected, actual)), differences, "{actual}");
        }
        let row =
            |differs| StateRow { key: "k".to_owned(), before: None, after: None, expected: None, differs };
        let turn = Turn { calls: vec![changed, call(CallState::Extra)], ..answered("Sunny.", "Rainy.") };
        let run = Run { state_rows: vec![row(true), row(false)], ..Run::of_turns(vec![turn]) }.counted();
        assert_eq!((run.turns[0].differences, run.turns[0].in_answer, run.differences), (6, 1, 7));
        let beside = Turn { other_parts: true, ..answered("Sunny.", "Sunny.") };
        assert_eq!(count(Turn { same: false, ..beside }), 1, "an image differs");
        let hidden = Turn { same: false, hidden: true, ..answered("***", "***") };
        assert_eq!(count(hidden), 1, "what is masked differs");
    }

    #[test]
    fn an_error_is_no_difference_and_neither_is_what_was_not_played() {
        let unanswered = |broke| Turn { actual: None, broke, diff: Vec::new(), ..answered("Sunny.", "") };
        assert_eq!([count(unanswered(true)), count(unanswered(false))], [0, 1]);
        let calls = vec![call(CallState::Extra), call(CallState::Unreached), call(CallState::Unanswered)];
        assert_eq!(count(Turn { calls, ..unanswered(true) }), 1, "the agent did that before");
        assert_eq!(
            count(Turn { played: false, calls: vec![call(CallState::Missing)], ..unanswered(false) }),
            0
        );
    }
}
