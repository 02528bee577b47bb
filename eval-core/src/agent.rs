//! The system under test: an [`Agent`] answers the messages of a conversation, and what it does is recorded.
#![doc = crate::pages::page!("../docs/agents.md")]

mod answer;
mod boxed;
mod chunks;
mod closure;
mod event;
mod handoff;
mod interface;
mod into_agent;
mod late;
mod local;
mod log;
mod recorder;
mod replay;
mod shown;
mod turn;
mod unreachable;
mod weight;

pub use answer::IntoAnswer;
pub use boxed::BoxError;
pub use boxed::BoxFuture;
pub use closure::{agent_fn, turn_fn};
pub use event::Event;
pub(crate) use interface::Erased;
pub use interface::{Agent, BoxAgent};
pub use into_agent::IntoAgent;
pub use local::{LocalAgent, local};
#[cfg(test)]
pub(crate) use log::MOST_EVENTS;
pub(crate) use log::{Log, Recorded};
pub use recorder::Recorder;
pub use replay::Replay;
#[doc(hidden)]
pub use shown::shows_something;
pub use turn::{Session, Turn};
pub use unreachable::Unreachable;
