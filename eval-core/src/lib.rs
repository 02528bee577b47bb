//! Runs eval sets of Google's Agent Development Kit against agents, as cargo tests.

mod agent;
mod decide;
mod eval_run;
mod failure;
mod inventory;
mod message;
mod metric;
mod options;
mod plan;
mod private;
mod report;
mod runner;
mod score;
mod setup;
mod stale;
mod transcript;
mod verdict;

pub use agent::{Agent, BoxAgent, BoxError, Event, Recorder, Replay, Session, Turn, agent_fn};
pub use eval_format as format;
pub use eval_format::{
    AgentDetails, AppDetails, Content, Criterion, EvalCase, EvalConfig, EvalSet, FunctionCall,
    FunctionResponse, IntermediateData, Invocation, InvocationEvent, Map, Number, Part, Rubric, SessionInput,
    UsageMetadata, Value, json,
};
#[cfg(feature = "macros")]
pub use eval_macros::eval_set;
pub use eval_run::EvalRun;
pub use metric::{Metric, MetricFn, MetricInput, Score, Scores};
pub use options::{Gate, Pass};
pub use report::{CaseReport, EvalReport, MetricReport, Place, RunReport, RunScore, Summary};
pub use runner::{EvalRunner, RunDirError, RunnerError, Setup};
pub use setup::{EvalFn, IntoAgent, IntoOutcome};
pub use transcript::{RunError, Transcript, TurnRecord};
pub use verdict::{Role, Verdict};

/// What the generated tests call. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::private::*;
}

/// Compiles the code of the README.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../../README.md")]
struct Readme;
