//! Eval sets in the format of Google's Agent Development Kit (ADK): reading, checking, writing.

mod coerce;
mod content_hash;
mod encoding;
mod model;
mod problem;
mod read_error;
mod reader;
mod schema;
mod suggest;
mod syntax;
mod value;
mod write;

pub use content_hash::content_hash;

pub use model::{
    AgentDetails, AppDetails, Content, EvalCase, EvalSet, FunctionCall, FunctionResponse, IntermediateData,
    Invocation, InvocationEvent, Part, Rubric, SessionInput, UsageMetadata,
};
pub use problem::{Code, JsonPath, Problem, Problems, Severity, Step};
pub use read_error::ReadError;
pub use reader::{CasePlace, CheckedSet, Form, check_set, file_stem, read_case};
pub use serde_json::json;
pub use value::{Map, Number, Value};

fn render(problem: &Problem, file: &str, _text: &str) -> String {
    format!("{}: {}", file, problem.message)
}
