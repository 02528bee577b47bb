//! Golden tools: the calls of a turn with the responses that answer them, and the faults of tools: in the key
//! `_tools` of a case, or in a fault file for all cases.
//!
//! With golden tools no tool of the agent runs: what the case says that a tool answered is the answer. A fault takes the
//! place of an answer, delays it, or changes the session state beside it.
//!
//! ```
//! use eval_format::tools::{FaultOutcome, ToolFaults};
//! use eval_format::{EvalCase, Invocation};
//! use serde_json::json;
//!
//! let case = EvalCase::new("busy")
//!     .turn(Invocation::user("Weather in Paris?"))
//!     .with_extra("_tools", json!({"1": {"get_weather#1": {"raises": "connection reset"}}}));
//! let faults = ToolFaults::of(&case);
//! let fault = faults.of_call(1, "get_weather", 1).unwrap();
//! assert_eq!(fault.outcome, Some(FaultOutcome::Raises("connection reset".to_owned())));
//! ```

mod answers;
mod check;
mod declarations;
mod faults;
mod injections;

pub use answers::{answered_calls, calls_with_responses};
pub(crate) use check::{call_places, check};
pub use declarations::{CheckedDeclarations, check_declarations, read_declarations};
pub use faults::{FaultOutcome, ToolFault, ToolFaults};
pub use injections::{CheckedInjections, ToolInjection, ToolInjections, check_injections};

/// The tool that hands the conversation to another agent. It has no answer of its own, so it always runs.
pub const TRANSFER_TO_AGENT: &str = "transfer_to_agent";
