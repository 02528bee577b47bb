//! Recorded runs of eval sets: which run is meant, whether it is complete and passed, and its reports.
#![doc = rustdoc_links::page!("../docs/reports.md")]

pub mod baseline;
#[doc(hidden)]
pub mod cargo;
pub mod command;
pub mod comparison;
#[doc(hidden)]
pub mod decide;
#[doc(hidden)]
pub mod document;
pub mod export;
#[doc(hidden)]
pub mod formats;
#[doc(hidden)]
pub mod git;
pub mod journal;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod page;
pub mod price;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod recorded;
#[doc(hidden)]
pub mod run_page;
mod rustdoc_links;
pub mod statistics;
#[doc(hidden)]
pub mod summary_text;

pub use baseline::Baseline;
pub use command::EvalCommand;
pub use comparison::Compare;
pub use export::Export;

/// Answers of an installed google-adk.
#[cfg(test)]
#[path = "../tests/support/adk.rs"]
mod adk_oracle;

/// Checks of documents against a JSON Schema.
#[cfg(test)]
#[path = "../tests/support/schema.rs"]
mod schema_check;
