//! The system under test: an [`Agent`] answers the messages of a conversation, and what it does is recorded.
//!
//! A test asks the agent one message of the case after the other. The agent records texts, tool calls, state changes and
//! tokens as they happen; metrics score the record.
//!
//! ```
//! use eval_core::{Agent, BoxError, Turn, json};
//!
//! /// Remembers the last city.
//! #[derive(Default)]
//! struct WeatherAgent { city: Option<String> }
//!
//! impl Agent for WeatherAgent {
//!     async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
//!         let city = self.city.get_or_insert_with(|| turn.text()).clone();
//!         let recorder = turn.recorder();
//!         let sky = recorder.tool("get_weather", json!({ "city": city }), get_weather(&city)).await?;
//!         recorder.state("last_city", city);
//!         recorder.text(format!("It is {sky}."));
//!         Ok(())
//!     }
//! }
//!
//! async fn get_weather(city: &str) -> Result<String, BoxError> {
//!     Ok(format!("sunny in {city}"))
//! }
//! # let _ = WeatherAgent::default();
//! ```
//!
//! # What is in it
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
//!
//! # A turn that blocks
//!
//! A turn that blocks its thread (a synchronous HTTP client, a long computation) cannot be cancelled: its time limit takes
//! effect when it next awaits. Wrap such work in `tokio::task::spawn_blocking`. While a turn blocks, a line on stderr names
//! the case, run and turn.
//!
//! # A turn that ends the process
//!
//! `std::process::exit(0)` in a test would look like success to the test harness, cargo and nextest, and all tests that
//! had not ended would count as passed. If the thread of a test of the attribute calls it, the process is aborted instead,
//! with a message. Calls on other threads are not seen: workers of a multi-threaded runtime, `spawn_blocking`, and threads
//! that an agent starts.

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
