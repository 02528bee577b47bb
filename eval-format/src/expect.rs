//! The key `_expect` of a case: points of the golden values that may vary, and demands on answers.
//!
//! The golden values stay in the turns. `_expect` names a turn, a call and an argument, and says what may be there
//! instead. What equals the golden value by Python's `==` matches under any rule, so a rule only loosens. google-adk keeps
//! the key and judges strictly.
//!
//! ```
//! use eval_format::expect::{Relation, Rules};
//! use eval_format::{ArgsMatch, EvalCase, FunctionCall};
//! use serde_json::json;
//!
//! let case = EvalCase::parse(
//!     r#"{"eval_id": "sunny", "conversation": [{"user_content": {"parts": [{"text": "Weather?"}]},
//!         "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Oslo", "day": "2026-11-22"}}]}}],
//!         "_expect": {"1": {"calls": {"get_weather": {"day": "date"}}}}}"#,
//! )?;
//! let rules = Rules::of(&case)?;
//! let expected = case.conversation[0].tool_calls().next().unwrap();
//! let compared = |args| rules.turn(0).compare(0, expected, &FunctionCall::new("get_weather", args), ArgsMatch::Exact);
//! assert!(matches!(compared(json!({ "city": "Oslo", "day": "2026-11-23" })), Relation::Loosened(_)));
//! assert!(matches!(compared(json!({ "city": "Oslo", "day": "tomorrow" })), Relation::Mismatch(_)));
//! # Ok::<(), eval_format::Problems>(())
//! ```
//!
//! [`Expect`] is the notation, to be built in Rust; [`Rules`] are the rules of a case, with each name resolved to its
//! call.

mod answer;
mod answers;
mod compare;
mod count;
mod fault;
mod fit;
mod matcher;
mod notation;
mod numbers;
mod path;
mod pattern;
mod read;
mod rules;

pub use answer::{Demands, JsonDemand, NumberDemand, Unfulfilled};
pub use compare::{Point, Reason, Relation};
pub use count::Loosened;
#[cfg(feature = "json-schema")]
pub(crate) use matcher::words;
pub use matcher::{Matcher, Tolerance};
pub use notation::{CallExpect, Expect, Others, TurnExpect};
pub use path::ArgPath;
pub use pattern::Pattern;
#[cfg(feature = "json-schema")]
pub(crate) use read::{DEMANDS, OBJECTS, TURN_KEYS};
pub(crate) use rules::resolved;
pub use rules::{Rules, TurnRules};

#[cfg(test)]
mod tests;
