//! What was recorded: each run of a case, written before it is scored, then its scores, then the verdict.
//!
//! Tests of the attribute write a journal under `target/evalset/<run>/`, one file per process, and
//! `cargo evalset` reads it; [`EvalRunner::journal`](crate::EvalRunner::journal) does the same for programs. This module
//! is the reading side:
//!
//! ```no_run
//! use eval_core::journal::{RecordedRun, runs};
//!
//! let newest = runs("target/evalset".as_ref())?.into_iter().next().ok_or("no runs yet")?;
//! for test in RecordedRun::read(&newest.path)?.tests {
//!     match test.last().and_then(|attempt| attempt.decided.as_ref()) {
//!         Some(decided) => println!("{}: {}", test.name, decided.verdict),
//!         None => println!("{}: unfinished", test.name),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is kept, whatever happens
//!
//! A file grows line by line, a [`Record`] each, and each line is one write: a process that is killed loses the case in
//! flight. [`Started`] without [`Decided`] is such a case; half a line at the end is passed over. A judge that fails
//! costs no run of the agent: its [`Ran`] is there before the first question, and
//! [`EvalRunner::score_case`](crate::EvalRunner::score_case) scores it again. Where nothing can be written (a full disk,
//! a folder that is read-only) one sentence on stderr says so, and verdicts are what they would have been.
//!
//! Lines are JSON, with `NaN` and `Infinity` where Python's `json` writes them. Values of variables that are named like
//! secrets (`.._API_KEY`, `.._TOKEN`, `.._SECRET`, `.._PASSWORD`) are replaced by the variable's name.
//!
//! # Runs
//!
//! All binaries of one `cargo test` write into one run, and so do all processes of one `cargo nextest run`. On systems
//! other than Linux and macOS a binary under `cargo test` is a run of its own, and so is a test binary that is started
//! by hand; `EVALSET_RUN_ID` puts them together. A file `latest` names the run that was last written to. Whoever begins
//! a run removes the oldest ones, but none that a process still writes in.
//!
//! # Environment
//!
//! | variable | value | unless said |
//! | --- | --- | --- |
//! | `EVALSET_JOURNAL` | `on`, or `off`: nothing is written | `on` |
//! | `EVALSET_DIR` | the folder that holds the runs, an absolute path | `evalset` in the target folder; where an archive of nextest runs, `target/evalset` in the workspace |
//! | `EVALSET_RUN_ID` | the name of the run | nextest's run id (`NEXTEST_RUN_ID`); else time and hash, such as `2026-11-22T02-31-07-1a2b3c4d` |
//! | `EVALSET_KEEP` | how many runs are kept, at least 1; those that a process writes in are kept too | 20 |

mod content;
mod folder;
mod json;
mod line;
#[cfg(feature = "reports")]
mod read;
mod record;
mod run_id;
mod scores;
mod test_log;
mod text;
mod time;
mod transcript;
mod writer;

#[cfg(all(test, feature = "reports"))]
mod tests;

pub use crate::judge_outcome::JudgeUse;
pub use folder::{RunDir, latest, runs};
#[cfg(feature = "reports")]
pub use read::{Attempt, Evaluation, RecordedRun, RecordedTest, Unreadable};
pub use record::{Decided, Head, MetricScore, Ran, Record, SCHEMA, Scored, Started, case_hash};
pub(crate) use test_log::TestLog;
pub(crate) use writer::Journal;
