//! Reports in the formats of other tools. Another format is a file here that implements it for
//! [`EvalReport`](super::EvalReport).
//!
//! | file | format |
//! | --- | --- |
//! | `adk` | google-adk's results of an eval set |
//! | `csv` | the table of google-adk's `AgentEvaluator` |
//! | `adk_rs` | adk-rs's report |
//! | `document` | the report as a JSON document of our own |

mod adk;
mod adk_rs;
mod csv;
mod document;
mod file;
mod python;
#[cfg(test)]
mod tests;

pub use adk::EvalSetResult;
pub use file::ExportError;
