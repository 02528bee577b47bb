//! Eval sets as typed values: sets, cases, turns, messages, scenarios.
//!
//! Field names, defaults and units are ADK's. Values are plain data with public fields. A set can be built in Rust, read
//! from a file ([`EvalSet::read`]) and written as ADK writes it ([`EvalSet::to_json`]).
//!
//! ADK adds fields from time to time, so no type here can be written as a struct literal. Constructors such
//! as `new` take the fields that a value always has, and `with_x` sets the field `x`. The most common setters
//! have shorter names: [`EvalSet::case`], [`EvalCase::turn`], [`Invocation::call`], [`Invocation::response`].
//! A field without a setter is assigned:
//!
//! ```
//! use eval_format::FunctionCall;
//!
//! // A call without arguments, which is not a call with empty ones.
//! let mut call = FunctionCall::default();
//! call.name = Some("now".to_owned());
//! assert_eq!(call.to_string(), "now");
//! ```

mod between;
mod content;
mod eval_set;
mod invocation;
mod rubric;
pub(crate) mod saved;
mod scenario;

pub use content::{Content, FunctionCall, FunctionResponse, Part};
pub(crate) use eval_set::{DRAFT, TAGS};
pub use eval_set::{EvalCase, EvalSet, SessionInput};
pub use invocation::{
    AgentDetails, AppDetails, IntermediateData, Invocation, InvocationEvent, UsageMetadata,
};
pub use rubric::Rubric;
pub use scenario::{ConversationScenario, Persona, UserBehavior, UserPersona};
