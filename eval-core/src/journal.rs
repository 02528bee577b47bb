//! The journal: each run of a case is recorded before it is scored, then its scores, then the verdict.
//!
//! Tests of the attribute write a journal, and programs do with
//! [`EvalRunner::journal`](crate::EvalRunner::journal).
//! [What a run records](crate::_documentation::configuration#what-a-run-records) says where the files are,
//! and which variables decide that. This module defines and writes the records. `cargo evalset` reads whole
//! runs with the module `journal` of the crate `eval-report`.
//!
//! # The records
//!
//! A file `*.jsonl` belongs to one process. Each line is a record, a JSON object, and is written at once:
//!
//! | `record` | written | read as |
//! | --- | --- | --- |
//! | `head` | first: the process that writes | `Head` |
//! | `listed` | before the first test: the tests of the test binary | `Listed` |
//! | `beside` | before the first test: the tests of another test binary of the package | `Beside` |
//! | `planned` | before a program runs cases: their names | `Planned` |
//! | `started` | when a test begins | `Started` |
//! | `turn` | when a turn begins | `TurnBegan` |
//! | `ran` | when a run ends, before it is scored | `Ran` |
//! | `scored` | when a run is scored | `Scored` |
//! | `broke` | when a run turns out to be an error after it was recorded | `RunInvalidated` |
//! | `decided` | when a test ends | `Decided` |
//! | `ended` | when a process of hand-written tests, or a program, ends | `Ended` |
//!
//! Each line ends with its number and a checksum (`"n"`, `"sum"`), so that a line that was changed, lost, moved or added
//! is found and named.
//!
//! Each line is plain JSON. A number that JSON cannot express is a string (`"NaN"`, `"inf"`). In values that
//! agents and tools sent, such a number is an object: `{"$evalset::number":"NaN"}`. So is an integer of more
//! than 64 bits. A missing field is empty, 0, `false` or unknown.
//!
//! If a process is killed, the case in flight has a `started` without a `decided`, and the last line may be incomplete. If a
//! judge fails, the run is not lost: its `ran` is written before the first question, and
//! [`EvalRunner::score_case`](crate::EvalRunner::score_case) scores its transcript again.

mod field;
mod fields;
#[doc(hidden)]
pub mod file_names;
mod folder;
mod line;
mod listed;
mod program;
#[doc(hidden)]
pub mod project;
mod record;
mod revision;
mod run_id;
#[doc(hidden)]
pub mod runs;
mod scores;
mod test_log;
mod time;
mod transcript;
mod value;
mod writer;

#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use crate::judge_outcome::{JudgeQuestion, JudgeUse};
#[doc(hidden)]
pub use folder::hold;
#[doc(hidden)]
pub use line::{Field, record_text, sealed, sealed_line, sealed_number};
pub(crate) use program::journal_of_program;
#[doc(hidden)]
pub use record::{Beside, Ended, JOB_VARIABLES, Listed, ListedSet, Planned, RunInvalidated, TurnBegan};
pub use record::{Decided, Head, Ran, SCHEMA, Scored, Started};
#[doc(hidden)]
pub use revision::Revision;
pub(crate) use test_log::{ProgramCase, RunLog, TestLog};
pub use writer::prune;
pub(crate) use writer::{Journal, OpenError};
