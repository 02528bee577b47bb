//! Eval sets as typed values: sets, cases, turns, messages, scenarios.
//!
//! Field names, defaults and units are ADK's. Values are plain data with public fields. A set can be built in Rust, read
//! from a file ([`EvalSet::read`]) and written as ADK writes it ([`EvalSet::to_json`]).

mod between;
mod checked;
mod content;
mod eval_set;
mod invocation;
mod rubric;
mod scenario;

pub use content::{Content, FunctionCall, FunctionResponse, Part};
pub use eval_set::{EvalCase, EvalSet, SessionInput};
pub use invocation::{
    AgentDetails, AppDetails, IntermediateData, Invocation, InvocationEvent, UsageMetadata,
};
pub use rubric::Rubric;
pub use scenario::{ConversationScenario, Persona, UserBehavior, UserPersona};
