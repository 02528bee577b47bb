//! Readers of journals: runs with their tests, attempts and scores.
//!
//! ```no_run
//! use eval_report::journal::{RecordedRun, runs};
//!
//! let newest = runs("target/evalset".as_ref())?.into_iter().next().ok_or("no runs yet")?;
//! for test in RecordedRun::read(&newest.path)?.tests {
//!     match test.last().and_then(|attempt| attempt.decided.as_ref()) {
//!         Some(decided) => println!("{}: {}", test.name(), decided.verdict),
//!         None => println!("{}: unfinished", test.name()),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`eval_core::journal`] defines the records and the form of their files.

mod attempts;
mod checked_lines;
mod completeness;
mod read;
mod reading;
mod record;
mod recorded;
mod runner;
mod runs;

#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use completeness::Completeness;
#[doc(inline)]
pub use eval_core::journal::prune;
#[doc(hidden)]
pub use eval_core::journal::runs::{Owner, owners};
#[doc(inline)]
pub use eval_core::journal::runs::{RunDir, runs};
pub use read::{Attempt, Evaluation, Listing, ReadRunError, RecordedRun, RecordedTest, UnreadableLine};
#[doc(hidden)]
pub use record::{Record, RecordError};
pub(crate) use runner::Asked;
pub(crate) use runs::find_run;
pub use runs::latest;
#[doc(hidden)]
pub use runs::revision_of_run;
