//! Eval sets in the format of Google's Agent Development Kit (ADK): reading, checking, writing.
//!
//! `eval-core` re-exports this crate as `eval_core::format`.
//!
//! ```
//! use eval_format::{EvalSet, Problems};
//!
//! let text = r#"{
//!   "eval_set_id": "weather",
//!   "eval_cases": [{
//!     "eval_id": "sunny",
//!     "conversaton": [{ "user_content": { "parts": [{ "text": "Weather in Paris?" }] } }]
//!   }]
//! }"#;
//! let problems = EvalSet::parse(text).unwrap_err();
//! assert!(problems.to_string().contains("did you mean `conversation`?"));
//!
//! let set = EvalSet::parse(&text.replace("conversaton", "conversation"))?;
//! assert_eq!(set.eval_cases[0].conversation[0].user_text(), "Weather in Paris?");
//! # Ok::<(), Problems>(())
//! ```
//!
//! | to | use |
//! | --- | --- |
//! | read a set or a config | [`EvalSet::read`], [`EvalSet::parse`], [`EvalConfig::read`], [`EvalConfig::parse`]; `EvalSet` is `Deserialize` too |
//! | build, check and write one | [`EvalSet::new`], [`EvalCase::new`], [`Invocation::user`], [`EvalSet::check`], [`EvalSet::to_json`], [`EvalConfig::with`], [`EvalConfig::checked`] |
//! | see all problems, warnings included | [`check_set`](reader::check_set), [`check_config`](config::check_config), [`render`](problem::render) |
//! | know what a config may say | [`METRICS`](metric::METRICS) |
//! | change the cases of a file, and no other byte | `SetEditor` (feature `edit`) |
//! | know whether a config fits the cases of a set | [`check_compatibility`](compat::check_compatibility) |
//! | count expectations that no metric reads | [`NotCompared`](compat::NotCompared) |
//! | find the sets of a directory | [`find_sets`](find::find_sets) |
//! | say what may vary in a case | [`expect`] |
//! | know which file is a set, a config or a recording | [`conventions`] |
//! | select cases by their tags | [`TagSelection`](tags::TagSelection) |
//! | know whether two cases ask, or expect, the same | [`Meaning`] |
//! | make the variants of a matrix | [`matrix`] |
//! | read and write recordings of judges | `recording` (feature `recordings`) |
//!
//! Files that google-adk 2.13.0 can read are read, and writing gives what ADK writes. The exceptions are
//! listed in the project's `docs/differences.md`. Most of them are sets that test nothing, or something else
//! than they seem to test.
//!
//! One reader decides what is valid. It collects all problems of a file and never panics, whatever the bytes.

mod coerce;
pub mod compat;
pub mod config;
pub mod conventions;
#[cfg(feature = "edit")]
pub mod edit;
mod error;
#[cfg(test)]
mod error_texts;
pub mod expect;
pub mod find;
#[cfg(feature = "json-schema")]
mod json_schema;
mod judged;
pub mod matrix;
mod meaning;
pub mod metric;
mod mistakes;
mod model;
mod model_faults;
mod names;
pub mod options;
pub mod problem;
pub mod reader;
#[cfg(feature = "recordings")]
pub mod recording;
mod rubrics;
mod schema;
mod syntax;
pub mod tags;
mod text;
pub mod tools;
mod value;
mod write;

pub use config::criterion::Criterion;
pub use config::eval_config::EvalConfig;
#[cfg(feature = "edit")]
pub use edit::{EditError, SetEditor};
pub use error::ReadError;
#[cfg(feature = "json-schema")]
pub use json_schema::json_schema;
pub use meaning::Meaning;
pub use metric::bound::Bound;
pub use metric::choices::{ArgsMatch, Direction, MatchType, Similarity};
pub use model::{
    AgentDetails, AppDetails, Content, ConversationScenario, EvalCase, EvalSet, FunctionCall,
    FunctionResponse, IntermediateData, Invocation, InvocationEvent, Part, Persona, Rubric, SessionInput,
    UsageMetadata, UserBehavior, UserPersona,
};
pub use options::{DEFAULT_TIMEOUT, PassRule, ToolSource, TurnAggregation};
pub use problem::finding::Problem;
pub use problem::problems::Problems;
pub use value::{Entries, Map, Number, Value};

/// Helpers that the attribute, the runtime and `cargo evalset` share. Not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::judged::{judged_criteria, simulated_users};
    pub use crate::metric::fields::DEFAULT_STOP_SIGNAL;
    pub use crate::model_faults::{AnswerChange, FaultKind, ModelFault, ModelFaults, check_model_faults};
    pub use crate::names::{LISTING_BEGIN, LISTING_END, module_name, test_names};
    pub use crate::problem::render::render_with_level;
    pub use crate::reader::built::check_cases;
    pub use crate::reader::slice::{check_case, read_case};
    #[cfg(feature = "recordings")]
    pub use crate::recording::lines::{line_of, questions_of_lines};
    pub use crate::schema::Piece;
    pub use crate::text::parse_value;
    pub use crate::value::write_string;
}

/// The README, so that its example is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
