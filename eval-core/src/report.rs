//! Reports on cases that ran, as values.
//!
//! [`EvalRunner`](crate::EvalRunner) returns an [`EvalReport`] for a set and a [`CaseReport`] for a case. Both print
//! themselves.
//!
//! ```
//! use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
//! use eval_core::report::MetricOutcome;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let set = EvalSet::new("weather").case(EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny.")));
//! let report = EvalRunner::new().runs(2).run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
//!
//! for case in &report.cases {
//!     println!("{}: {}", case.eval_id(), case.verdict);
//!     for metric in &case.metrics {
//!         println!("  {}: {:?}, {} of {} turns scored", metric.name, metric.score, metric.scored, metric.total);
//!     }
//! }
//! // Each run keeps what happened and what each metric made of it.
//! let run = &report.cases[0].runs[1];
//! assert_eq!(run.transcript.turns[0].invocation.response_text(), "Sunny.");
//! let scored = run.metric("response_match_score").ok_or("ADK's default criteria name it")?;
//! assert!(matches!(&scored.outcome, MetricOutcome::Scored(scores) if scores.overall() == Some(1.0)));
//! # Ok(()) }
//! ```
//!
//! # What is in it
//!
//! | of | what happened | what came out |
//! | --- | --- | --- |
//! | several sets, or one | | [`EvalReport`], counted in a [`Summary`] |
//! | a case | | [`CaseReport`], at its [`Location`] |
//! | a metric, over all runs of a case | | [`MetricReport`] |
//! | a run | [`Transcript`] of [`TurnRecord`]s, [`RunError`] | [`RunReport`] |
//! | a model, in a run with recorded calls | [`ModelUse`] | |
//! | a metric, on one run | [`JudgeUse`] | [`ScoredMetric`] with its [`MetricOutcome`] |
//!
//! A case, a metric of a case and a metric of a run have a [`Verdict`], and each score has a [`TurnVerdict`].
//! The [`Role`] of an error says what broke. [`short()`] prints scores.
//!
//! # Formats
//!
//! The crate `eval-report` prints an [`EvalReport`] as JSON, in the formats of google-adk and adk-rs, and reports
//! recorded runs.

mod as_expected;
mod case_report;
mod eval_report;
pub(crate) mod golden;
mod metric_report;
mod replaceable;
#[cfg(test)]
pub(crate) mod tests;

pub use crate::judge_outcome::{JudgeQuestion, JudgeUse, asks_for_a_recording};
pub use crate::metric::loosening::Loosening;
pub use crate::model_use::ModelUse;
pub use crate::transcript::{RunError, Transcript, TurnRecord};
pub use crate::verdict::{Role, TurnVerdict, Verdict};
pub(crate) use case_report::run_count;
pub use case_report::{CaseReport, Location, RunReport};
pub use eval_report::{EvalReport, Summary};
pub use metric_report::{MetricOutcome, MetricReport, ScoredMetric, short};
