//! Golden conversations as cargo tests: runs eval sets in the format of Google's Agent Development Kit (ADK).
//!
//! One attribute turns a file of recorded conversations into tests, one per case:
//!
//! ```
//! # #[cfg(feature = "macros")] mod tests {
//! use eval_core::{Agent, BoxError, Turn, eval_set, json};
//!
//! struct WeatherAgent;
//!
//! impl Agent for WeatherAgent {
//!     async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
//!         let args = json!({ "city": "Paris" });
//!         let sky = turn.recorder().tool("get_weather", args, get_weather("Paris")).await?;
//!         turn.recorder().text(format!("It is {sky} in Paris."));
//!         Ok(())
//!     }
//! }
//!
//! #[eval_set("evals/weather.evalset.json")]
//! fn weather() -> impl Agent {
//!     WeatherAgent
//! }
//! # async fn get_weather(_: &str) -> Result<&'static str, BoxError> { Ok("sunny") }
//! # }
//! ```
//!
//! ```text
//! test weather::sunny_in_Paris ... ok
//! test weather::refund_declined ... FAILED
//! ```
//!
//! # The tour
//!
//! | you want to | look at |
//! | --- | --- |
//! | turn files into tests | [`eval_set`](macro@eval_set): arguments, names, directories, what is generated |
//! | make your agent testable | [`agent`]: [`Agent`], [`Recorder::tool`], [`agent_fn`], [`turn_fn`], [`Replay`] |
//! | unit-test your agent, share what is costly to make | [`testing`]: [`Conversation`](testing::Conversation), [`Fixture`](testing::Fixture) |
//! | know what is scored, and score more | [`metric`](mod@metric): all metrics, [`Metric`], [`MetricFn`](metric::MetricFn) |
//! | have a model judge, and pay once | `judge`: `Judge`, `RecordedJudge` (feature `judges`) |
//! | let a model play the user | `scenario`: `ConversationScenario` (feature `judges`) |
//! | run without the world: what the case says that tools answered, and faults | [`tools`] |
//! | run without a model: what it answered when it was recorded | `models` (feature `models`) |
//! | run a case yourself, then assert | [`EvalRun`] |
//! | run sets from a program | [`runner`]: [`EvalRunner`], [`EvalReport`] |
//! | read what was recorded, score it again | the crate `eval-report`, [`EvalRunner::score_case`] |
//! | hand results to others | [`report`], the crate `eval-report` |
//! | make, review and change cases | [goldens](_documentation::goldens) |
//! | read, check, build or write files | [`format`](mod@format), [`EvalSet`], [`EvalConfig`] |
//!
//! # What a test does
//!
//! The case's conversation is played against a fresh agent, turn by turn, in a session with the case's state. What the
//! agent does is recorded; the record is scored by each metric on its own; the scores are compared with the thresholds.
//! Files and arithmetic agree with google-adk 2.13.0, to the last bit of a score, with [a list of
//! exceptions](_documentation::differences). Its silent passes are not kept: an agent error, a missing answer or a
//! metric without a score is a [`Verdict`] of its own, and none of them passes.
//!
//! # Features and environment
//!
//! [Configuration](_documentation::configuration) has the table of features, the config files, the variables
//! `EVALSET_..`, and what a run records.

#![cfg_attr(docsrs, feature(doc_cfg))]

/// Documentation pages without an item: configuration, differences from ADK, CI, the command line, and how this
/// compares.
#[cfg(any(doc, doctest))]
pub mod _documentation;
pub mod agent;
mod attribute;
#[cfg(any(feature = "judges", feature = "models"))]
mod blocking;
mod case_runner;
mod compiled;
mod decide;
#[cfg(test)]
mod error_texts;
mod exit_guard;
mod failure;
mod fixture;
/// Programs that end with this process. Not public API.
#[doc(hidden)]
pub mod group;
mod guard;
pub mod journal;
/// Judges: models that score the work of an agent, and the recordings of their answers.
#[cfg(feature = "judges")]
#[cfg_attr(any(not(doctest), feature = "macros"), doc = crate::pages::page!("../docs/judges.md"))]
pub mod judge;
#[cfg(not(feature = "judges"))]
#[path = "judge_off.rs"]
mod judge;
mod judge_outcome;
pub mod metric;
mod model_use;
/// Recorded calls of models: agents that run without their models, and without keys.
#[cfg(feature = "models")]
#[cfg_attr(any(not(doctest), feature = "macros"), doc = crate::pages::page!("../docs/recorded-models.md"))]
pub mod models;
#[cfg(not(feature = "models"))]
#[path = "models_off.rs"]
mod models;
mod options;
mod pages;
mod play;
pub mod report;
pub mod runner;
mod score;
mod scoring;
mod setup;
#[cfg(feature = "judges")]
mod simulator;
#[cfg(not(feature = "judges"))]
#[path = "simulator_off.rs"]
mod simulator;
mod stale;
/// Output of programs that is no answer. Not public API.
#[doc(hidden)]
pub mod stderr;
mod target_dir;
#[cfg(test)]
mod test_support;
pub mod tools;
mod transcript;
mod verdict;

/// Access for the measurements under `benches/`. Not public API.
#[doc(hidden)]
pub mod bench;

pub use agent::{Agent, BoxAgent, BoxError, Recorder, Replay, Session, Turn, agent_fn, turn_fn};
pub use attribute::EvalRun;
pub use eval_format as format;
pub use eval_format::{
    Criterion, EvalCase, EvalConfig, EvalSet, Invocation, PassRule, ToolSource, TurnAggregation,
};
#[cfg(feature = "macros")]
#[doc(inline)]
/// Makes a test of each case of an eval set.
#[doc = crate::pages::page!("../docs/attribute.md")]
pub use eval_macros::eval_set;
pub use metric::input::MetricInput;
pub use metric::metric_trait::Metric;
pub use metric::scores::{Score, Scores};
pub use report::{CaseReport, EvalReport};
pub use runner::builder::EvalRunner;
pub use serde_json::json;
pub use verdict::Verdict;

/// Helpers for tests beside the attribute: conversations by hand, and values that the tests of a binary share.
///
/// ```
/// use eval_core::agent_fn;
/// use eval_core::testing::Conversation;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut conversation = Conversation::new(agent_fn(|text, _| async move { format!("You said: {text}") }));
/// conversation.say("Hi").await?;
/// assert_eq!(conversation.finish().await?.turns.len(), 1);
/// # Ok(()) }
/// ```
pub mod testing {
    pub use crate::fixture::Fixture;
    pub use crate::play::Conversation;
}

/// Conversations with a simulated user.
#[cfg(feature = "judges")]
#[doc = crate::pages::page!("../docs/scenarios.md")]
pub mod scenario {
    pub use eval_format::config::UserSimulatorConfig;
    #[doc(no_inline)]
    pub use eval_format::{ConversationScenario, Persona, UserBehavior, UserPersona};
}

/// Functions that the generated tests call. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::attribute::*;
    pub use crate::failure::{reads_the_golden, texts as failure_texts};
    pub use crate::guard::TIMED_OUT;
    pub use crate::judge_outcome::ASKED_IF;
    pub use crate::model_use::missing_call;
    pub use crate::play::check_events;
    pub use crate::report::golden::{turn_of_set, with_run};
    pub use crate::score::usage::sum_of_known;
    pub use crate::tools::answers::{NO_GOLDEN, in_short};
    pub use crate::transcript::invocation;

    /// Whether this build asks judges over the network.
    pub const ASKS_MODELS: bool = cfg!(feature = "model-judge");
}

/// Scoring functions for the fuzz targets. Not public API.
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;

/// Compiles the code of the README.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../README.md")]
struct Readme;
