//! Eval sets in the format of Google's Agent Development Kit (ADK): reading, checking, writing.
//!
//! ```
//! use eval_format::EvalSet;
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
//! # Ok::<(), eval_format::Problems>(())
//! ```
//!
//! | to | use |
//! | --- | --- |
//! | read a set or a config | [`EvalSet::read`], [`EvalSet::parse`], [`EvalConfig::read`], [`EvalConfig::parse`]; `EvalSet` is `Deserialize` too |
//! | build and write one | [`EvalSet::new`], [`EvalCase::new`], [`Invocation::user`], [`EvalSet::to_json`], [`EvalConfig::with`] |
//! | see all problems, warnings included | [`check_set`], [`check_config`], [`render`] |
//! | know what a config may say | [`METRICS`], [`metric`](fn@metric) |
//! | read and write what judges answered | [`Recording`], [`check_recording`] |
//! | know whether a config fits the cases of a set | [`check_compatibility`] |
//! | find the sets of a directory | [`find_sets`] |
//!
//! What any loader of google-adk 2.13.0 accepts is read, and writing gives what ADK writes. Refused are sets that test
//! nothing or not what they seem to, and, in ADK's old forms, halves of surrogate pairs and more than 200 levels of
//! nesting. One reader decides what is valid. It collects all problems of a file, and it never panics, whatever the
//! bytes.

mod coerce;
pub mod compat;
pub mod config;
pub mod conventions;
pub mod error;
mod find;
mod hash;
mod judged;
pub mod metric;
pub mod model;
mod names;
pub mod options;
mod order;
pub mod problem;
pub mod reader;
#[cfg(feature = "recordings")]
pub mod recording;
mod render;
mod rubrics;
mod schema;
mod suggest;
mod syntax;
mod text;
pub mod value;
mod write;

pub use compat::{Incompatibility, check_compatibility};
pub use config::{
    CheckedConfig, Criterion, EvalConfig, Instructions, InstructionsError, UserSimulatorConfig, Variable,
    check_config,
};
pub use conventions::{file_stem, recording_path};
pub use error::{Problems, ReadError};
pub use find::{FindError, find_sets, fixed_folder, is_glob};
pub use hash::content_hash;
pub use metric::{
    ArgsMatch, CriterionField, FieldKind, METRICS, MatchType, MetricGroup, MetricInfo, Need, Similarity,
    Subject, metric,
};
pub use model::{
    AgentDetails, AppDetails, Content, ConversationScenario, EvalCase, EvalSet, FunctionCall,
    FunctionResponse, IntermediateData, Invocation, InvocationEvent, Part, Persona, Rubric, SessionInput,
    UsageMetadata, UserBehavior, UserPersona,
};
pub use names::{module_name, test_names};
pub use options::{DEFAULT_TIMEOUT, Gate, Pass};
pub use problem::{Code, JsonPath, Problem, Severity, Step};
pub use reader::{
    CaseSpan, CheckedSession, CheckedSet, Form, check_case, check_session, check_set, read_case,
};
#[cfg(feature = "recordings")]
pub use recording::{
    CheckedRecording, GrowingRecording, QuestionSpan, RecordedQuestion, RecordedReply, Recording,
    check_recording,
};
pub use render::{line_column, render, render_with_level};
pub use serde_json::json;
pub use suggest::suggest;
pub use value::{Map, Number, Value};

/// Helpers that the attribute, the runtime and `cargo evalset` share. Not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::find::{fixed_folder, is_glob};
    pub use crate::hash::content_hash;
    pub use crate::judged::{judged_criteria, simulated_users};
    pub use crate::names::{module_name, test_names};
    pub use crate::reader::{check_case, read_case};
    #[cfg(feature = "recordings")]
    pub use crate::recording::GrowingRecording;
    pub use crate::render::render_with_level;
    pub use crate::suggest::suggest;
    pub use crate::value::write_string;
}
