//! Configs (`test_config.json`, `eval_config.json`): which metrics decide whether a case passes, and how.

mod check;
mod criteria;
mod criterion;
mod custom_metrics;
mod eval_config;
mod foreign;
mod instructions;
mod judged;
mod messages;
mod model_config;
mod user_simulator;

pub use check::{CheckedConfig, check_config};
pub use criterion::Criterion;
pub use eval_config::EvalConfig;
pub use instructions::{Instructions, InstructionsError, Variable};
pub use user_simulator::UserSimulatorConfig;

#[cfg(test)]
mod tests;
