//! The system under test: an [`Agent`] answers the messages of a conversation, and what it does is recorded.
//!
//! | you have | use |
//! | --- | --- |
//! | a type that holds a conversation | [`Agent`] |
//! | a function from a message to an answer | [`agent_fn`] |
//! | recorded answers | [`Replay`] |
//! | one of several agents, chosen at run time | [`BoxAgent`] |
//!
//! An agent is given a [`Session`], then a [`Turn`] for each message. It records [`Event`]s with the turn's [`Recorder`].
//! A setup function returns anything that is [`IntoAgent`]: an agent, or a `Result` of one.
#![doc = crate::pages::page!("../docs/agents.md")]

mod boxed;
mod closure;
mod event;
mod interface;
mod into_agent;
mod recorder;
mod replay;
mod turn;

pub use boxed::BoxError;
pub(crate) use boxed::BoxFuture;
pub use closure::agent_fn;
pub use event::Event;
pub(crate) use interface::Erased;
pub use interface::{Agent, BoxAgent};
pub use into_agent::IntoAgent;
pub use recorder::Recorder;
pub(crate) use recorder::{MOST_EVENTS, Recorded};
pub use replay::Replay;
pub use turn::{Session, Turn};
