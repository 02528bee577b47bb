//! What was recorded: each run of a case, written before it is scored, then its scores, then the verdict.
//!
//! Tests of the attribute write a journal under `target/evalset/<run>/`, one file per process, and
//! `cargo evalset` reads it. This module is the reading side:
//!
//! ```no_run
//! use eval_core::journal::{Run, runs};
//!
//! let newest = runs("target/evalset".as_ref())?.into_iter().next().ok_or("no runs yet")?;
//! for test in Run::read(&newest.path)?.tests {
//!     match test.last().and_then(|attempt| attempt.decided.as_ref()) {
//!         Some(decided) => println!("{}: {}", test.name, decided.verdict),
//!         None => println!("{}: unfinished", test.name),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod content;
mod entry;
mod folder;
mod json;
mod read;
mod record;
mod run_id;
mod scores;
mod time;
mod transcript;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use entry::Entry;
pub use folder::{RunDir, latest, runs};
pub use read::{Attempt, Evaluation, Run, Test, Unreadable};
pub use record::{Decided, Head, JudgeUse, MetricScore, Ran, Record, SCHEMA, Scored, Started};
pub(crate) use writer::Journal;
