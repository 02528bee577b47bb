//! The report on a case: its runs, its metrics, its verdict.

use std::time::Duration;

use eval_format::{EvalCase, TurnAggregation};
use eval_support::debug_without_secrets;

use super::metric_report::{MetricReport, ScoredMetric};
use crate::transcript::{RunError, Transcript};
use crate::verdict::Verdict;

/// The place of a case in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, as it is shown in messages.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// One run of a case: what happened and how it scored.
#[derive(Clone, PartialEq)]
pub struct RunReport {
    /// The number of this run of the case, from 1. A test body may evaluate several times in a run.
    pub number: usize,
    /// The events of the run.
    pub transcript: Transcript,
    /// The error that ended the run early, setup included.
    pub error: Option<RunError>,
    /// The result of each metric, in the order of [`CaseReport::metrics`]; empty if the run broke off before it could
    /// be scored.
    pub metrics: Vec<ScoredMetric>,
}

debug_without_secrets!(RunReport { number, transcript, error, metrics });

impl RunReport {
    /// The result of the metric of this name; `None` if the run was not scored with it.
    pub fn metric(&self, name: &str) -> Option<&ScoredMetric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

/// The report on one case.
///
/// ```
/// use eval_core::{EvalCase, EvalRunner, Invocation, Replay, Verdict};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("It is sunny."));
/// let report = EvalRunner::new().run_case(&case, || Replay::new([["It rains."]])).await?;
///
/// assert_eq!(report.verdict, Verdict::Failed);
/// let response = report.metric("response_match_score").ok_or("ADK's default criteria name it")?;
/// assert_eq!((response.scored, response.total), (1, 1));
/// assert_eq!((response.score, response.threshold()), (Some(0.4), Some(0.8)));
/// assert_eq!(report.runs[0].transcript.turns[0].invocation.response_text(), "It rains.");
/// println!("{report}");
/// # Ok(()) }
/// ```
///
/// `Display` prints what a failing test prints, without the notes and commands that only a generated test has.
#[derive(Clone, PartialEq)]
pub struct CaseReport {
    /// The id of its set; `None` for a case that ran without one.
    pub eval_set_id: Option<String>,
    /// The case as it was read.
    pub case: EvalCase,
    /// The place of the case in its file; `None` for a case that comes from no file.
    pub location: Option<Location>,
    /// The label that the program gave its runs: [`EvalRunner::label`](crate::EvalRunner::label); `None` if it gave
    /// none.
    pub label: Option<String>,
    /// The runs, in order. A run whose test body evaluated several times is there several times.
    pub runs: Vec<RunReport>,
    /// The metrics, in the order of the criteria.
    pub metrics: Vec<MetricReport>,
    /// The number of runs that passed every metric with a threshold; `None` unless runs are decided one by one (`pass`
    /// other than `mean`).
    pub passed_runs: Option<usize>,
    /// The rule that combined the turns of a run.
    pub gate: TurnAggregation,
    /// Whether calls were judged as ADK does, whatever the case loosens:
    /// [`EvalRunner::literal`](crate::EvalRunner::literal), `EVALSET_LITERAL`.
    pub literal: bool,
    /// The verdict on the case.
    pub verdict: Verdict,
    /// The duration of its turns.
    pub elapsed: Duration,
    /// Remarks that belong to no metric, such as recorded replies that no metric asked for.
    pub notes: Vec<String>,
    /// The runs in which the agent was not reached and which were repeated (`retry`), in order. They are never scored,
    /// but a forbidden call in one of them fails the case.
    pub repeated: Vec<RunReport>,
}

debug_without_secrets!(CaseReport {
    eval_set_id,
    case,
    location,
    label,
    runs,
    metrics,
    passed_runs,
    gate,
    literal,
    verdict,
    elapsed,
    notes,
    repeated,
});

impl CaseReport {
    /// The report of a case without runs.
    #[doc(hidden)]
    pub fn of_verdict(case: EvalCase, verdict: Verdict) -> Self {
        Self {
            eval_set_id: None,
            case,
            location: None,
            label: None,
            runs: Vec::new(),
            metrics: Vec::new(),
            passed_runs: None,
            gate: TurnAggregation::Mean,
            literal: false,
            verdict,
            elapsed: Duration::ZERO,
            notes: Vec::new(),
            repeated: Vec::new(),
        }
    }
}

impl CaseReport {
    /// The id of the case.
    pub fn eval_id(&self) -> &str {
        &self.case.eval_id
    }

    /// The number of runs. The evaluations of a test body in one run count as one.
    pub fn run_count(&self) -> usize {
        run_count(&self.runs)
    }

    /// The metric of this name; `None` if the case was not scored with it.
    pub fn metric(&self, name: &str) -> Option<&MetricReport> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// The metrics that could have failed the case and were skipped: they do not apply, or no judge could be asked.
    pub fn skipped_metrics(&self) -> impl Iterator<Item = &MetricReport> {
        self.metrics.iter().filter(|metric| matches!(metric.verdict, Verdict::Skipped(_)))
    }
}

/// The number of runs. The evaluations of a run follow each other.
pub(crate) fn run_count(runs: &[RunReport]) -> usize {
    runs.chunk_by(|one, next| one.number == next.number).count()
}
