//! Faults of models while they are played: the reply to a call that has one.

use std::time::Duration;

use eval_format::__private::{AnswerChange, FaultKind, ModelFault, ModelFaults};
use eval_format::Value;

mod changed;

pub(crate) use changed::changed;

/// The faults of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults(ModelFaults);

/// A fault at a call, as it is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Played {
    /// The call has no answer.
    Failure(Failure),
    /// It has an answer, which is played otherwise than it was given.
    Twist(Twist),
}

/// A failure in place of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Failure {
    /// An error of the provider.
    Status { status: u16, retry_after: Option<Duration> },
    /// Nothing for this time; then the connection ends.
    Reset(Duration),
}

/// The way in which an answer is played otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twist {
    /// It breaks off, so it is not used up: the next call with this request gets it whole.
    Cut { events: usize, is_error: bool },
    /// Its text or its calls are others.
    Changed(AnswerChange),
}

impl Faults {
    /// Reads the faults of the value under `_models`. The error is a sentence.
    pub fn read(value: &Value) -> Result<Self, String> {
        ModelFaults::parse(value).map(Self)
    }

    /// The fault at a call.
    pub(crate) fn at(&self, turn: usize, call: usize) -> Option<Played> {
        self.0.at(turn, call).map(|fault| match fault.kind {
            FaultKind::Status { status, retry_after } => {
                Played::Failure(Failure::Status { status, retry_after })
            }
            FaultKind::Reset => Played::Failure(Failure::Reset(Duration::ZERO)),
            FaultKind::Hang(time) => Played::Failure(Failure::Reset(time)),
            FaultKind::Cut { events, is_error } => Played::Twist(Twist::Cut { events, is_error }),
            FaultKind::Changed(change) => Played::Twist(Twist::Changed(change)),
        })
    }

    /// The fault at a call, as messages name it.
    pub(crate) fn name(&self, turn: usize, call: usize) -> String {
        self.0.at(turn, call).map_or_else(String::new, named)
    }

    /// The faults whose call was not made. `made` says whether a turn had a call of this number.
    pub(crate) fn unreached(&self, made: impl Fn(usize, usize) -> bool) -> Vec<String> {
        self.0.iter().filter(|fault| !made(fault.turn, fault.call)).map(named).collect()
    }
}

fn named(fault: &ModelFault) -> String {
    format!("`{}` at turn {}, call {}", fault.written, fault.turn, fault.call)
}
