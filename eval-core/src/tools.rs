//! Golden tools: the responses of a case answer the calls of its agent, and no tool runs.
//!
//! [`EvalRunner::tools`](crate::EvalRunner::tools) and `tools = "golden"` of the attribute turn them on. An agent in Rust
//! asks with [`Recorder::golden`](crate::Recorder::golden) or [`Recorder::answer`](crate::Recorder::answer). An agent that
//! speaks to another program asks with the [`GoldenTools`] of its session:
//!
//! ```
//! use eval_core::format::{EvalCase, Invocation, Map};
//! use eval_core::tools::GoldenTools;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let turn = Invocation::parse(r#"{"user_content": {}, "intermediate_data": {
//!     "tool_uses": [{"name": "get_weather", "args": {"city": "Paris"}}],
//!     "tool_responses": [{"name": "get_weather", "response": {"sky": "sunny"}}]}}"#).unwrap();
//! let tools = GoldenTools::new(&EvalCase::new("sunny").turn(turn));
//! tools.begin_turn();
//!
//! let answered = tools.answer("get_weather", &Map::from([("city", "Paris")])).await.unwrap();
//! assert_eq!(answered.response["sky"].as_str(), Some("sunny"));
//!
//! let missed = tools.answer("get_weather", &Map::from([("city", "Oslo")])).await.unwrap_err();
//! assert!(missed.to_string().starts_with(r#"no golden answers get_weather(city: "Oslo") in turn 1"#));
//! assert_eq!(tools.misses().len(), 1);
//! # }
//! ```
//!
//! A call that no golden answers makes the case an ERROR, also if the agent hides it: misses are told to the run as well
//! as to the agent.

pub(crate) mod answers;
mod golden;
mod injected;

pub use answers::{ToolAnswer, ToolOutcome};
pub use golden::{Answered, GoldenError, GoldenTools, ToolMiss};
