//! Reports in the formats of others: google-adk's results, `AgentEvaluator`'s table, adk-rs's JSON.

mod adk;
mod adk_rs;
mod csv;
mod python;
#[cfg(test)]
pub(crate) mod tests;

pub use adk::{EvalSetResult, ExportError};
