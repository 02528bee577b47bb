//! Eval sets in the format of Google's Agent Development Kit (ADK): reading, checking, writing.

mod coerce;
mod config;
mod error;
mod find;
mod hash;
mod metric;
mod model;
mod names;
mod problem;
mod reader;
mod render;
mod schema;
mod suggest;
mod syntax;
mod text;
mod value;
mod write;

pub use config::{ArgsMatch, CheckedConfig, Criterion, EvalConfig, MatchType, check_config};
pub use error::ReadError;
pub use find::{FindError, find_sets, is_glob};
pub use hash::content_hash;
pub use metric::{CriterionField, FieldKind, METRICS, MetricGroup, MetricInfo, Need, metric};
pub use model::{
    AgentDetails, AppDetails, Content, EvalCase, EvalSet, FunctionCall, FunctionResponse, IntermediateData,
    Invocation, InvocationEvent, Part, Rubric, SessionInput, UsageMetadata,
};
pub use names::{module_name, test_names};
pub use problem::{Code, JsonPath, Problem, Problems, Severity, Step};
pub use reader::{CasePlace, CheckedSet, Form, check_set, file_stem, read_case};
pub use render::{line_column, render, render_with_level};
pub use serde_json::json;
pub use suggest::suggest;
pub use value::{Map, Number, Value};
