//! What came out, as values: per metric, per case, per set.

use std::fmt;
use std::time::Duration;

use eval_format::{Criterion, EvalCase, Gate};

#[cfg(feature = "reports")]
pub use crate::export::{EvalSetResult, ExportError};
pub use crate::judge_outcome::JudgeUse;
use crate::message::count;
use crate::metric::Scores;
pub use crate::transcript::{RunError, Transcript, TurnRecord};
pub use crate::verdict::{Role, Verdict};

/// Where a case stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The file, as it is shown.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// One run of a case: what happened and how it scored.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunReport {
    /// What happened.
    pub transcript: Transcript,
    /// What ended the run early, setup included.
    pub error: Option<RunError>,
    /// What each metric made of it, in the order of [`CaseReport::metrics`]. A run that ended in an error has none.
    pub metrics: Vec<ScoredMetric>,
}

impl RunReport {
    /// What the metric of this name made of the run; `None` if it was not scored with it.
    pub fn metric(&self, name: &str) -> Option<&ScoredMetric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

/// One metric, scored on one run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScoredMetric {
    /// The metric.
    pub name: String,
    /// Whether it is the user's own. A metric of the user's may have the name of a built-in one.
    pub custom: bool,
    /// Threshold and options; `None` for informational metrics.
    pub criterion: Option<Criterion>,
    /// Its scores, or why there are none.
    pub outcome: MetricOutcome,
    /// What the judges were asked for it; empty if it asked none.
    pub judge: Vec<JudgeUse>,
    /// The verdict on this run alone.
    pub verdict: Verdict,
}

/// What one metric made of one run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MetricOutcome {
    /// It has scores.
    Scored(Scores),
    /// It does not apply, for this reason.
    Skipped(String),
    /// There was nobody to ask, which `EVALSET_MISSING_JUDGE=skip` allows; the reason.
    Unjudged(String),
    /// It failed.
    Error {
        /// What failed: the metric itself, or the judge it asked.
        role: Role,
        /// How.
        message: String,
    },
}

/// What one metric made of a case, over all runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MetricReport {
    /// The metric.
    pub name: String,
    /// Threshold and options; absent for informational metrics.
    pub criterion: Option<Criterion>,
    /// The exact mean of the scores of all turns of all runs; of an informational metric the mean of its own
    /// numbers for the runs, which may count turns that have none as zero.
    pub score: Option<f64>,
    /// How many turns have a score; a metric that scores the run as a whole counts one for each run.
    pub scored: usize,
    /// How many turns there are, over all runs; runs, for a metric that scores the run as a whole.
    pub total: usize,
    /// In how many runs it passed, where runs are decided one by one.
    pub passed_runs: Option<usize>,
    /// The verdict.
    pub verdict: Verdict,
    /// What there is to say about the number.
    pub notes: Vec<String>,
}

impl MetricReport {
    /// What the score is compared with; absent for informational metrics.
    pub fn threshold(&self) -> Option<f64> {
        self.criterion.as_ref().map(|criterion| criterion.threshold)
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
/// Printed, it is what a failing test prints.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CaseReport {
    /// The id of its set; `None` for a case that ran without one.
    pub eval_set_id: Option<String>,
    /// The case as it was read.
    pub case: EvalCase,
    /// Where it stands in its file, when it came from one.
    pub location: Option<Location>,
    /// The runs, in order.
    pub runs: Vec<RunReport>,
    /// The metrics, in the order of the criteria.
    pub metrics: Vec<MetricReport>,
    /// How many runs passed every metric that gates, where runs are decided one by one.
    pub passed_runs: Option<usize>,
    /// How the turns of a run were taken together.
    pub gate: Gate,
    /// The verdict on the case.
    pub verdict: Verdict,
    /// How long its turns took.
    pub elapsed: Duration,
    /// What there is to say beside the metrics: recorded answers that nobody asked for.
    pub notes: Vec<String>,
}

impl CaseReport {
    /// The id of the case.
    pub fn eval_id(&self) -> &str {
        &self.case.eval_id
    }

    /// The metric of a name.
    pub fn metric(&self, name: &str) -> Option<&MetricReport> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

/// What came out of a set or several: the cases in the order of the files.
///
/// Serialises as adk-rs's report: `results`, each with `eval_set_id`, `eval_case_id`, `scores` and
/// `overall_status`; beside them a `summary`.
///
/// ```
/// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay, json};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let set = EvalSet::new("weather").case(EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny.")));
/// let report = EvalRunner::new().run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
///
/// let json = serde_json::to_value(&report)?;
/// assert_eq!(json["results"][0]["scores"]["response_match_score"]["status"], "PASSED");
/// assert_eq!(json["summary"], json!({ "total": 1, "passed": 1, "failed": 0, "errors": 0, "skipped": 0, "pass_rate": 1.0 }));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// A score that is missing is 0 there with the status `ERROR`, since adk-rs's types need a number. For the
/// formats of google-adk see [`adk_results`](Self::adk_results) and [`to_csv`](Self::to_csv).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[must_use = "failed cases fail nothing by themselves: look at `all_passed()`"]
pub struct EvalReport {
    /// The cases, in order.
    pub cases: Vec<CaseReport>,
}

/// How many cases there were and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// All cases.
    pub total: usize,
    /// Cases that passed.
    pub passed: usize,
    /// Cases whose score stayed below a threshold.
    pub failed: usize,
    /// Cases that have no verdict: errors, and metrics that were not evaluated.
    pub errors: usize,
    /// Cases of which nothing could be checked without a judge, where `EVALSET_MISSING_JUDGE=skip` allows that.
    pub skipped: usize,
}

impl Summary {
    /// Passed cases per case, 0 to 1; absent where there were none.
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^53")]
    pub fn pass_rate(&self) -> Option<f64> {
        (self.total > 0).then(|| self.passed as f64 / self.total as f64)
    }
}

impl EvalReport {
    /// How many cases there were and what became of them.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary { total: self.cases.len(), ..Summary::default() };
        for case in &self.cases {
            match case.verdict {
                Verdict::Passed => summary.passed += 1,
                Verdict::Failed => summary.failed += 1,
                Verdict::Skipped(_) => summary.skipped += 1,
                _ => summary.errors += 1,
            }
        }
        summary
    }

    /// Whether a case passed and none failed. Cases that were skipped for want of a judge do neither.
    pub fn all_passed(&self) -> bool {
        self.cases.iter().any(|case| case.verdict.passed()) && self.failures().next().is_none()
    }

    /// The cases that neither passed nor were skipped.
    pub fn failures(&self) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(|case| !matches!(case.verdict, Verdict::Passed | Verdict::Skipped(_)))
    }
}

impl fmt::Display for EvalReport {
    /// One line per case, what failed, and a summary with its denominators.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for case in &self.cases {
            let scores: Vec<String> = case
                .metrics
                .iter()
                .filter(|metric| metric.criterion.is_some())
                .map(|metric| match metric.score {
                    Some(score) => format!("{} {score:?}", metric.name),
                    None => format!("{} {}", metric.name, metric.verdict),
                })
                .collect();
            let set = case.eval_set_id.as_deref().unwrap_or_default();
            writeln!(f, "{:>13} {set}/{}  {}", case.verdict.to_string(), case.eval_id(), scores.join("  "))?;
        }
        for case in self.failures() {
            writeln!(f, "\n{case}")?;
        }
        let Summary { total, passed, failed, errors, skipped } = self.summary();
        write!(f, "{}: {passed} passed, {failed} failed, {errors} without a verdict", count(total, "case"))?;
        if skipped > 0 {
            write!(f, ", {skipped} skipped")?;
        }
        Ok(())
    }
}
