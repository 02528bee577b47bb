//! Eval sets in the format of Google's Agent Development Kit (ADK): reading, checking, writing.

mod coerce;
mod config;
mod error;
mod metric;
mod model;
mod problem;
mod suggest;
mod syntax;
mod text;
mod value;

pub use config::{ArgsMatch, CheckedConfig, Criterion, EvalConfig, MatchType, check_config};
pub use error::ReadError;
pub use metric::{CriterionField, FieldKind, METRICS, MetricGroup, MetricInfo, Need, metric};

pub use model::{
    AgentDetails, AppDetails, Content, EvalCase, EvalSet, FunctionCall, FunctionResponse, IntermediateData,
    Invocation, InvocationEvent, Part, Rubric, SessionInput, UsageMetadata,
};
pub use problem::{Code, JsonPath, Problem, Problems, Severity, Step};
pub use serde_json::json;
pub use value::{Map, Number, Value};

fn render(problem: &Problem, file: &str, _text: &str) -> String {
    format!("{}: {}", file, problem.message)
}
