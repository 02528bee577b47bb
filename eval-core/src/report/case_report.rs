//! What came out of a case: its runs, its metrics, its verdict.

use std::time::Duration;

use eval_format::{EvalCase, Gate};
use eval_support::debug_without_secrets;

use super::metric_report::{MetricReport, ScoredMetric};
use crate::transcript::{RunError, Transcript};
use crate::verdict::Verdict;

/// Where a case stands in its file.
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
    /// Which run of the case this is, from 1. A test body may evaluate several times in a run.
    pub number: usize,
    /// What happened.
    pub transcript: Transcript,
    /// What ended the run early, setup included.
    pub error: Option<RunError>,
    /// What each metric made of the run, in the order of [`CaseReport::metrics`]; empty if the run broke off
    /// before it could be scored.
    pub metrics: Vec<ScoredMetric>,
}

debug_without_secrets!(RunReport { number, transcript, error, metrics });

impl RunReport {
    /// What the metric of this name made of the run; `None` if the run was not scored with it.
    pub fn metric(&self, name: &str) -> Option<&ScoredMetric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

/// What came out of one case.
///
/// ```
/// use eval_core::{EvalCase, EvalRunner, Invocation, Replay, Verdict};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("It is sunny."));
/// let report = EvalRunner::new().run_case(&case, || Replay::new([["It rains."]])).await?;
///
/// assert_eq!(report.verdict, Verdict::Failed);
/// let response = report.metric("response_match_score").ok_or("ADK's default criteria name it")?;
/// assert_eq!((response.scored, response.total), (1, 1));
/// assert_eq!((response.score, response.threshold()), (Some(0.4), Some(0.8)));
/// assert_eq!(report.runs[0].transcript.turns[0].invocation.response_text(), "It rains.");
/// println!("{report}");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// `Display` prints what a failing test prints, without the notes and commands that only a generated test has.
#[derive(Clone, PartialEq)]
pub struct CaseReport {
    /// The id of its set; `None` for a case that ran without one.
    pub eval_set_id: Option<String>,
    /// The case as it was read.
    pub case: EvalCase,
    /// Where the case stands in its file; `None` for a case that comes from no file.
    pub location: Option<Location>,
    /// The label that the program gave its runs: [`EvalRunner::label`](crate::EvalRunner::label); `None` if it gave none.
    pub label: Option<String>,
    /// The runs, in order. A run whose test body evaluated several times is there several times.
    pub runs: Vec<RunReport>,
    /// The metrics, in the order of the criteria.
    pub metrics: Vec<MetricReport>,
    /// How many runs passed every metric that gates; `None` unless runs are decided one by one (`pass` other than
    /// `mean`).
    pub passed_runs: Option<usize>,
    /// How the turns of a run were combined.
    pub gate: Gate,
    /// The verdict on the case.
    pub verdict: Verdict,
    /// How long its turns took.
    pub elapsed: Duration,
    /// Remarks that belong to no metric, such as recorded replies that nobody asked for.
    pub notes: Vec<String>,
    /// The runs in which the agent was not reached and which were repeated (`retry`), in order. They are never scored, but a
    /// forbidden call in one of them fails the case.
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
    verdict,
    elapsed,
    notes,
    repeated,
});

#[cfg(test)]
impl CaseReport {
    /// The report of a case without runs.
    pub(crate) fn of_verdict(verdict: Verdict) -> Self {
        Self {
            eval_set_id: None,
            case: EvalCase::new("c"),
            location: None,
            label: None,
            runs: Vec::new(),
            metrics: Vec::new(),
            passed_runs: None,
            gate: Gate::Mean,
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

    /// How many runs there are. The evaluations of a test body in one run count as one.
    pub fn run_count(&self) -> usize {
        run_count(&self.runs)
    }

    /// The metric of this name; `None` if the case was not scored with it.
    pub fn metric(&self, name: &str) -> Option<&MetricReport> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// The metrics that could have failed the case and were skipped: they do not apply, or nobody could be asked.
    pub fn skipped_metrics(&self) -> impl Iterator<Item = &MetricReport> {
        self.metrics.iter().filter(|metric| matches!(metric.verdict, Verdict::Skipped(_)))
    }
}

/// How many runs these are. The evaluations of a run stand one behind the other.
pub(crate) fn run_count(runs: &[RunReport]) -> usize {
    runs.chunk_by(|one, next| one.number == next.number).count()
}
