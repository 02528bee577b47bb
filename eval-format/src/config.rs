//! Configs (`test_config.json`, `eval_config.json`): which metrics decide whether a case passes, and how.
//!
//! ```
//! use eval_format::EvalConfig;
//!
//! let config = EvalConfig::parse(r#"{"criteria": {"response_match_score": 0.9}}"#)?;
//! assert_eq!(config.criterion("response_match_score").unwrap().threshold, 0.9);
//! # Ok::<(), eval_format::Problems>(())
//! ```

mod check;
mod criteria;
pub(crate) mod criterion;
mod custom_metrics;
pub(crate) mod eval_config;
mod foreign;
mod instructions;
mod judged;
mod messages;
mod metric_command;
mod model_config;
mod of_case;
mod user_simulator;

pub use check::{CheckedConfig, check_config};
pub(crate) use criterion::Criterion;
pub(crate) use eval_config::EvalConfig;
pub use instructions::{InstructionTemplate, InstructionsError, TemplateVariable};
#[cfg(feature = "json-schema")]
pub(crate) use judged::MAX_QUESTIONS;
pub use metric_command::MetricCommand;
pub(crate) use model_config::check as check_model_config;
pub use of_case::CaseCriteriaError;
pub use user_simulator::UserSimulatorConfig;

#[cfg(test)]
mod tests;
