//! A change of a golden: what a run did in place of what is expected, whole or in parts.

use std::fmt;

use eval_format::expect::Rules;
use eval_format::{EvalCase, IntermediateData};

use super::lines::{Line, arguments, lines};
use super::merge::{Take, merged};
use crate::recorded::FailedReads;

/// A part of a change. Turns and lines of calls are counted from 0 here, and shown from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Turn(usize),
    Call(usize, usize),
    Argument(usize, usize, String),
    Answer(usize),
    State,
}

/// The part as an id names it, behind the case: `:1:2:day`.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turn(turn) => write!(f, ":{}", turn + 1),
            Self::Call(turn, line) => write!(f, ":{}:{}", turn + 1, line + 1),
            Self::Argument(turn, line, key) => write!(f, ":{}:{}:{key}", turn + 1, line + 1),
            Self::Answer(turn) => write!(f, ":{}:answer", turn + 1),
            Self::State => f.write_str(":state"),
        }
    }
}

/// A golden beside a run of it.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) golden: EvalCase,
    /// The golden with what happened, in the golden's form.
    pub(crate) run: EvalCase,
    /// The calls of each turn side by side; empty if no failing metric reads calls.
    pub(crate) lines: Vec<Vec<Line>>,
    /// The parts that failing metrics read. Others are never changed: their metrics passed.
    reads: FailedReads,
}

impl Change {
    /// The two have the same turns. `literal` passes over the rules of the golden.
    pub(crate) fn new(golden: &EvalCase, run: &EvalCase, reads: FailedReads, literal: bool) -> Self {
        let rules = if literal { Rules::default() } else { Rules::of(golden).unwrap_or_default() };
        let turns = golden.conversation.iter().zip(&run.conversation).enumerate();
        let of_turn = |(at, (one, other))| match reads.calls {
            Some(how) => lines(one, other, rules.turn(at), how),
            None => Vec::new(),
        };
        Self { golden: golden.clone(), run: run.clone(), lines: turns.map(of_turn).collect(), reads }
    }

    /// The parts that are not as in the golden: turns, in them lines of calls, in these arguments, and answers; and the state.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        for turn in 0..self.golden.conversation.len() {
            let of_turn = self.of_turn(turn);
            if !of_turn.is_empty() || self.has_other_data(turn) {
                parts.push(Part::Turn(turn));
            }
            parts.extend(of_turn);
        }
        if self.reads.state && self.golden.final_session_state != self.run.final_session_state {
            parts.push(Part::State);
        }
        parts
    }

    /// The parts of a turn, without the turn itself.
    fn of_turn(&self, turn: usize) -> Vec<Part> {
        let (golden, run) = (&self.golden.conversation[turn], &self.run.conversation[turn]);
        let (calls, new): (Vec<_>, Vec<_>) = (golden.tool_calls().collect(), run.tool_calls().collect());
        let mut parts = Vec::new();
        for (at, line) in self.lines[turn].iter().enumerate() {
            if matches!(line, Line::Kept(_)) {
                continue;
            }
            parts.push(Part::Call(turn, at));
            if let Line::Changed(one, other) = *line {
                let keys = arguments(calls[one], new[other]).into_iter().map(|(key, ..)| key);
                parts.extend(keys.map(|key| Part::Argument(turn, at, key.to_owned())));
            }
        }
        if self.reads.answers && golden.final_response != run.final_response {
            parts.push(Part::Answer(turn));
        }
        parts
    }

    fn has_other_data(&self, turn: usize) -> bool {
        let data = |case: &EvalCase| case.conversation[turn].intermediate_data.clone();
        self.reads.data && data(&self.golden) != data(&self.run)
    }

    /// The golden with all that changed.
    pub(crate) fn whole(&self) -> EvalCase {
        self.with(&self.parts())
    }

    /// The golden with these parts of the run.
    pub(crate) fn with(&self, parts: &[Part]) -> EvalCase {
        let mut case = self.golden.clone();
        for (at, turn) in case.conversation.iter_mut().enumerate() {
            let (golden, run) = (&self.golden.conversation[at], &self.run.conversation[at]);
            let is_whole = parts.contains(&Part::Turn(at));
            if self.reads.answers && (is_whole || parts.contains(&Part::Answer(at))) {
                turn.final_response.clone_from(&run.final_response);
            }
            turn.intermediate_data = if is_whole && self.reads.data {
                run.intermediate_data.clone()
            } else {
                self.calls(at, parts, is_whole)
            };
            // A turn that expects nothing on the way stays so.
            if golden.intermediate_data.is_none()
                && turn.intermediate_data == Some(IntermediateData::default())
            {
                turn.intermediate_data = None;
            }
        }
        if parts.contains(&Part::State) {
            case.final_session_state.clone_from(&self.run.final_session_state);
        }
        case
    }

    fn calls(&self, turn: usize, parts: &[Part], is_whole: bool) -> Option<IntermediateData> {
        let take = |line: usize| {
            if is_whole || parts.contains(&Part::Call(turn, line)) {
                return Take::Run;
            }
            let keys = parts.iter().filter_map(|part| match part {
                Part::Argument(of, at, key) if (*of, *at) == (turn, line) => Some(key.clone()),
                _ => None,
            });
            let keys: Vec<String> = keys.collect();
            if keys.is_empty() { Take::Golden } else { Take::Arguments(keys) }
        };
        let (golden, run) = (&self.golden.conversation[turn], &self.run.conversation[turn]);
        merged(golden, run, &self.lines[turn], take)
    }
}

#[cfg(test)]
mod tests;
