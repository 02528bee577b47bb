//! The report in the field names of adk-rs 0.6, whose own types read it.

use eval_core::Verdict;
use eval_core::metric::Score;
use eval_core::report::{CaseReport, EvalReport, MetricOutcome, MetricReport, Summary};
use eval_support::secrets::mask;
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};

/// A report in adk-rs's form.
pub(super) struct Report<'a>(pub(super) &'a EvalReport);

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("EvalReport", 2)?;
        let results: Vec<_> = self.0.cases.iter().map(Case).collect();
        out.serialize_field("results", &results)?;
        out.serialize_field("summary", &Counts(self.0.summary()))?;
        out.end()
    }
}

struct Counts(Summary);

impl Serialize for Counts {
    /// The counts and `pass_rate`, which is `null` if no case was checked. `errors` counts the skipped cases too: adk-rs has
    /// no other status for them, and its counts add up to `total`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Summary", 6)?;
        out.serialize_field("total", &self.0.total)?;
        out.serialize_field("passed", &self.0.passed)?;
        out.serialize_field("failed", &self.0.failed)?;
        out.serialize_field("errors", &(self.0.errors + self.0.skipped))?;
        out.serialize_field("skipped", &self.0.skipped)?;
        out.serialize_field("pass_rate", &self.0.pass_rate())?;
        out.end()
    }
}

struct Case<'a>(&'a CaseReport);

impl Serialize for Case<'_> {
    /// An entry of `results`. Three fields are there if they have something to say, and adk-rs reads none of them: `error`,
    /// the reason of the verdict; `skipped`, the metrics that were skipped; `label`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reason = self.0.verdict.reason();
        let has_skipped = self.0.skipped_metrics().next().is_some();
        let more = [reason.is_some(), has_skipped, self.0.label.is_some()];
        let fields = 4 + more.into_iter().filter(|is_there| *is_there).count();
        let mut out = serializer.serialize_struct("CaseReport", fields)?;
        out.serialize_field("eval_set_id", self.0.eval_set_id.as_deref().unwrap_or_default())?;
        out.serialize_field("eval_case_id", self.0.eval_id())?;
        out.serialize_field("scores", &ScoresOf(self.0))?;
        out.serialize_field("overall_status", status(&self.0.verdict))?;
        if let Some(reason) = reason {
            out.serialize_field("error", &mask(reason))?;
        }
        if has_skipped {
            out.serialize_field("skipped", &SkippedOf(self.0))?;
        }
        if let Some(label) = &self.0.label {
            out.serialize_field("label", &mask(label))?;
        }
        out.end()
    }
}

struct SkippedOf<'a>(&'a CaseReport);

impl Serialize for SkippedOf<'_> {
    /// The reason by the name of the metric.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        for metric in self.0.skipped_metrics() {
            out.serialize_entry(&metric.name, &mask(metric.verdict.reason().unwrap_or_default()))?;
        }
        out.end()
    }
}

struct ScoresOf<'a>(&'a CaseReport);

impl Serialize for ScoresOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        for metric in &self.0.metrics {
            if !matches!(metric.verdict, Verdict::Informational | Verdict::Skipped(_)) {
                out.serialize_entry(&metric.name, &MetricOf { case: self.0, metric })?;
            }
        }
        out.end()
    }
}

struct MetricOf<'a> {
    case: &'a CaseReport,
    metric: &'a MetricReport,
}

impl Serialize for MetricOf<'_> {
    /// adk-rs has no place for a missing score. It is written as 0 with the status `ERROR` and the reason in `details`,
    /// even if some turns have a score. `NaN` and infinite scores are written as 0 too.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let decided = matches!(self.metric.verdict, Verdict::Passed | Verdict::Failed);
        let score = self.metric.score.filter(|score| decided && score.is_finite()).unwrap_or(0.0);
        let mut out = serializer.serialize_struct("Score", 3)?;
        out.serialize_field("score", &score)?;
        out.serialize_field("status", status(&self.metric.verdict))?;
        out.serialize_field("details", &Details(self))?;
        out.end()
    }
}

struct Details<'a>(&'a MetricOf<'a>);

impl Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let MetricOf { case, metric } = self.0;
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("per_invocation", &PerInvocation(self.0))?;
        out.serialize_entry("threshold", &metric.threshold())?;
        out.serialize_entry("runs", &case.run_count())?;
        if let Some(passed) = metric.passed_runs {
            // The mean alone would not say why it passed.
            out.serialize_entry("passed_runs", &passed)?;
        }
        if let Some(reason) = self.0.metric.verdict.reason() {
            out.serialize_entry("reason", &mask(reason))?;
        }
        out.end()
    }
}

struct PerInvocation<'a>(&'a MetricOf<'a>);

impl Serialize for PerInvocation<'_> {
    /// The score of each turn of each run; `null` for a turn without a score.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_seq(None)?;
        for run in &self.0.case.runs {
            let metric = run.metric(&self.0.metric.name);
            if let Some(MetricOutcome::Scored(scores)) = metric.map(|metric| &metric.outcome) {
                scores
                    .scores()
                    .iter()
                    .map(Score::value)
                    .try_for_each(|score| out.serialize_element(&score))?;
            }
        }
        out.end()
    }
}

fn status(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "PASSED",
        Verdict::Failed => "FAILED",
        _ => "ERROR",
    }
}
