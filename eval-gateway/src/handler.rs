//! Handlers of the endpoint. A handler replies to each call of its address, and a mistake in a call makes its cases an ERROR.

use std::fmt;

use crate::faults::{Failure, Twist};
use crate::recording::Answer;
use crate::wire::{Asked, Incoming, NoWire, Wire};

/// The owner of an address: a conversation, or a program that serves several of them.
pub(crate) trait Handler: Send + Sync {
    /// The wire of a call, and its reply.
    fn reply(&self, incoming: &Incoming<'_>) -> Result<(Wire, Reply), NoWire>;

    /// Makes its cases an ERROR.
    fn miss(&self, why: &str);

    /// Whether a message of the user is the last one of one of its conversations.
    fn may_ask(&self, said: &str) -> bool;

    /// Whether its program may reach no other host.
    fn is_offline(&self) -> bool;
}

/// A call that a model answers. If it is dropped before there is an answer, it was broken off.
pub(crate) trait Call: Send {
    /// The request.
    fn asked(&self) -> &Asked;

    /// The address to which it goes.
    fn address(&self) -> String;

    /// The reply with an answer as a fault has it.
    fn play(&self, answer: Answer, twist: Twist) -> Reply;

    /// Notes the answer of the model.
    fn answered(self: Box<Self>, answer: Answer);

    /// Notes that there was no answer.
    fn failed(self: Box<Self>, why: String);
}

/// The reply to a call.
pub(crate) enum Reply {
    /// This recorded answer.
    Recorded(Box<Answer>),
    /// A model is asked. Its answer is played otherwise, if a fault says so.
    Ask(Box<dyn Call>, Option<Twist>),
    /// The failure of a fault.
    Failed(Failure),
    /// The first events of this answer, then the end of the connection, or an error in the stream.
    Cut { answer: Box<Answer>, events: usize, is_error: bool },
    /// No answer: an error that no client repeats.
    Refused(String),
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recorded(answer) => f.debug_tuple("Recorded").field(answer).finish(),
            Self::Ask(call, _) => f.debug_tuple("Ask").field(&call.asked().key).finish(),
            Self::Failed(Failure::Status { status, .. }) => f.debug_tuple("Failed").field(status).finish(),
            Self::Failed(Failure::Reset(after)) => f.debug_tuple("Reset").field(after).finish(),
            Self::Cut { events, .. } => f.debug_tuple("Cut").field(events).finish(),
            Self::Refused(why) => f.debug_tuple("Refused").field(why).finish(),
        }
    }
}

/// The text of an answer of the tests, under `said`; the reason of a refusal.
#[cfg(test)]
pub(crate) fn got(reply: Reply) -> String {
    match reply {
        Reply::Recorded(answer) => match answer.body {
            crate::recording::Body::Json(value) => value["said"].as_str().unwrap_or_default().to_owned(),
            other => panic!("{other:?}"),
        },
        Reply::Refused(why) => why,
        other => format!("{other:?}"),
    }
}
