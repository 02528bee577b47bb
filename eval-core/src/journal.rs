//! The journal: each run of a case is recorded before it is scored, then its scores, then the verdict.
//!
//! Tests of the attribute write a journal, and programs do with [`EvalRunner::journal`](crate::EvalRunner::journal).
//! `cargo evalset` reads it. [What a run records](crate::_documentation::configuration#what-a-run-records) says where the
//! files are, and which variables decide that. With the feature `reports` this module reads them:
//!
//! ```no_run
//! # #[cfg(feature = "reports")] {
//! use eval_core::journal::{RecordedRun, runs};
//!
//! let newest = runs("target/evalset".as_ref())?.into_iter().next().ok_or("no runs yet")?;
//! for test in RecordedRun::read(&newest.path)?.tests {
//!     match test.last().and_then(|attempt| attempt.decided.as_ref()) {
//!         Some(decided) => println!("{}: {}", test.name(), decided.verdict),
//!         None => println!("{}: unfinished", test.name()),
//!     }
//! }
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The records
//!
//! A file `*.jsonl` belongs to one process. Each line is a record, a JSON object, and is written at once:
//!
//! | `record` | written | read as |
//! | --- | --- | --- |
//! | `head` | first: who writes | `Head` |
//! | `planned` | before a program runs cases | `Planned` |
//! | `started` | when a test begins | `Started` |
//! | `ran` | when a run ends, before it is scored | `Ran` |
//! | `scored` | when a run is scored | `Scored` |
//! | `broke` | when a run turns out to be an error after it was recorded | `Broke` |
//! | `decided` | when a test ends | `Decided` |
//!
//! Each line ends with its number and a checksum (`"n"`, `"sum"`), so that a line that was changed, lost, moved or added
//! is found and named.
//!
//! Numbers are as Python's `json` writes them: `NaN` and `Infinity` are possible, and integers can have any size. A field
//! that is missing is empty, 0, `false` or unknown.
//!
//! If a process is killed, the case in flight has a `started` without a `decided`, and the last line may be incomplete. If a
//! judge fails, the run is not lost: its `ran` is written before the first question, and
//! [`EvalRunner::score_case`](crate::EvalRunner::score_case) scores its transcript again.

#![cfg_attr(not(feature = "reports"), expect(unreachable_pub, reason = "public with the feature `reports`"))]

mod case_hash;
#[cfg(feature = "reports")]
mod checked_lines;
#[cfg(feature = "reports")]
mod completeness;
mod content;
#[doc(hidden)]
pub mod file_names;
mod folder;
#[cfg(feature = "reports")]
mod from_json;
#[cfg(feature = "reports")]
mod identity;
mod line;
mod lines;
#[cfg(feature = "reports")]
mod listed;
#[cfg(feature = "reports")]
mod outline;
#[cfg(feature = "reports")]
mod parse;
#[cfg(feature = "reports")]
mod passed;
#[cfg(feature = "reports")]
mod read;
#[cfg(feature = "reports")]
mod reading;
mod record;
mod revision;
mod run_id;
mod runs;
mod scores;
mod seal;
#[cfg(feature = "reports")]
mod selection;
mod shape;
#[cfg(feature = "reports")]
mod skim;
#[cfg(feature = "reports")]
mod tail;
mod test_log;
mod time;
mod to_json;
mod transcript;
mod writer;

#[cfg(all(test, feature = "reports"))]
mod tests;

pub use crate::judge_outcome::{JudgeQuestion, JudgeUse};
#[cfg(feature = "reports")]
pub use case_hash::case_hash;
#[cfg(feature = "reports")]
#[doc(hidden)]
pub use completeness::Completeness;
#[cfg(feature = "reports")]
pub use listed::{ListedSet, listed_tests};
#[cfg(feature = "reports")]
pub use parse::{Record, RecordError};
#[cfg(feature = "reports")]
pub use read::{Attempt, Evaluation, ReadRunError, RecordedRun, RecordedTest, UnreadableLine};
#[cfg(feature = "reports")]
pub use record::{
    Broke, Decided, Head, JOB_VARIABLES, Planned, Ran, RecordedMetric, SCHEMA, Scored, Started,
};
#[cfg(feature = "reports")]
#[doc(hidden)]
pub use revision::Revision;
#[cfg(feature = "reports")]
pub use runs::{RunDir, latest, runs};
#[cfg(feature = "reports")]
#[doc(hidden)]
pub use runs::{find_run, id_rule as run_id_rule, is_id as is_run_id, revision_of_run};
#[cfg(feature = "reports")]
#[doc(hidden)]
pub use tail::Tail;
pub(crate) use test_log::{ProgramCase, RunLog, TestLog};
#[cfg(feature = "reports")]
pub use writer::prune;
pub(crate) use writer::{Journal, OpenError};
