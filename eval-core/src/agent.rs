//! The system under test: an [`Agent`] answers the messages of a conversation, and what it does is recorded.
#![cfg_attr(any(not(doctest), feature = "macros"), doc = crate::pages::page!("../docs/agents.md"))]

mod boxed;
mod closure;
mod event;
mod interface;
mod local;
mod log;
#[cfg(feature = "models")]
mod model_url;
mod recorder;
mod replay;
mod turn;
mod unreachable;
mod weight;

pub use boxed::{BoxError, BoxFuture};
pub use closure::{IntoAnswer, agent_fn, turn_fn};
pub use event::Event;
#[doc(hidden)]
pub use event::shows_something;
pub(crate) use interface::Erased;
pub use interface::{Agent, BoxAgent, IntoAgent};
pub use local::{LocalAgent, local};
#[cfg(test)]
pub(crate) use log::MAX_EVENTS;
pub(crate) use log::{Log, Recorded};
pub use recorder::Recorder;
pub use replay::Replay;
pub(crate) use replay::events_of;
pub use turn::{Session, Turn};
pub use unreachable::Unreachable;
