//! Recorded runs of eval sets: which run is meant, whether it is complete and passed, and its reports.
#![doc = pages::page!("../docs/reports.md")]

#[doc(hidden)]
pub mod cargo;
pub mod command;
#[doc(hidden)]
pub mod document;
pub mod export;
#[doc(hidden)]
pub mod formats;
pub mod journal;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod page;
mod pages;
#[doc(hidden)]
pub mod phrases;
pub mod price;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod recorded;
#[doc(hidden)]
pub mod run_page;
pub mod statistics;

pub use command::EvalCommand;
pub use export::Export;

/// Answers of an installed google-adk.
#[cfg(test)]
#[path = "../tests/support/adk.rs"]
mod adk_oracle;

/// Documents held to a JSON Schema.
#[cfg(test)]
#[path = "../tests/support/schema.rs"]
mod schema_check;
