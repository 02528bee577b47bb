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
//! | `listed` | before the first test: what the test binary holds | `Listed` |
//! | `planned` | before a program runs cases: which | `Planned` |
//! | `started` | when a test begins | `Started` |
//! | `ran` | when a run ends, before it is scored | `Ran` |
//! | `scored` | when a run is scored | `Scored` |
//! | `broke` | when a run turns out to be an error after it was recorded | `Broke` |
//! | `decided` | when a test ends | `Decided` |
//!
//! Each line ends with its number and a checksum (`"n"`, `"sum"`), so that a line that was changed, lost, moved or added
//! is found and named.
//!
//! Each line is JSON that every reader takes. What JSON has no number for is a text (`"NaN"`, `"inf"`), and in what agents and
//! tools sent, an object: `{"$evalset::number":"NaN"}`, as integers of more than 64 bits are. A field that is missing is empty, 0,
//! `false` or unknown.
//!
//! If a process is killed, the case in flight has a `started` without a `decided`, and the last line may be incomplete. If a
//! judge fails, the run is not lost: its `ran` is written before the first question, and
//! [`EvalRunner::score_case`](crate::EvalRunner::score_case) scores its transcript again.

#![cfg_attr(not(feature = "reports"), expect(unreachable_pub, reason = "public with the feature `reports`"))]

mod any_record;
#[cfg(feature = "reports")]
mod checked_lines;
#[cfg(feature = "reports")]
mod completeness;
mod content;
mod field;
mod fields;
#[doc(hidden)]
pub mod file_names;
mod folder;
#[cfg(feature = "reports")]
mod identity;
mod line;
mod listed;
mod outline;
#[cfg(feature = "reports")]
mod parse;
#[cfg(feature = "reports")]
mod passed;
#[doc(hidden)]
pub mod project;
#[cfg(feature = "reports")]
mod read;
#[cfg(feature = "reports")]
mod reading;
mod record;
mod record_line;
mod revision;
mod run_id;
mod runs;
mod scores;
mod seal;
#[cfg(feature = "reports")]
mod selection;
mod serializer;
#[cfg(feature = "reports")]
mod tail;
mod test_log;
mod time;
mod transcript;
mod value;
mod writer;

#[cfg(all(test, feature = "reports"))]
mod tests;

pub use crate::judge_outcome::{JudgeQuestion, JudgeUse};
#[doc(hidden)]
pub use any_record::Outline;
pub use any_record::Record;
#[cfg(feature = "reports")]
#[doc(hidden)]
pub use completeness::Completeness;
#[cfg(feature = "reports")]
pub use parse::RecordError;
#[cfg(feature = "reports")]
pub use read::{Attempt, Evaluation, Listing, ReadRunError, RecordedRun, RecordedTest, UnreadableLine};
pub use record::{
    Broke, Decided, Head, JOB_VARIABLES, Listed, ListedSet, Planned, Ran, SCHEMA, Scored, Started,
};
#[cfg(feature = "reports")]
#[doc(hidden)]
pub use revision::Revision;
#[cfg(feature = "reports")]
#[doc(hidden)]
pub use runs::{Owner, find_run, id_rule as run_id_rule, is_id as is_run_id, owners, revision_of_run};
#[cfg(feature = "reports")]
pub use runs::{RunDir, latest, runs};
#[doc(hidden)]
pub use seal::{sealed_line, sealed_number};
#[cfg(feature = "reports")]
#[doc(hidden)]
pub use tail::Tail;
pub(crate) use test_log::{ProgramCase, RunLog, TestLog};
#[cfg(feature = "reports")]
pub use writer::prune;
pub(crate) use writer::{Journal, OpenError};
