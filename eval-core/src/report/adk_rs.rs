//! The report in the field names of adk-rs 0.6, for programs that read those.

use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};

use super::{CaseReport, EvalReport, MetricReport, RunScore};
use crate::metric::Score;
use crate::verdict::Verdict;

impl Serialize for EvalReport {
    /// `{"results": [..]}`; statuses are `PASSED`, `FAILED` and `ERROR`. Metrics that never gate or do
    /// not apply are left out.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("EvalReport", 1)?;
        out.serialize_field("results", &self.cases)?;
        out.end()
    }
}

impl Serialize for CaseReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("CaseReport", 4)?;
        out.serialize_field("eval_set_id", &self.eval_set_id)?;
        out.serialize_field("eval_case_id", self.eval_id())?;
        out.serialize_field("scores", &ScoresOf(self))?;
        out.serialize_field("overall_status", status(&self.verdict))?;
        out.end()
    }
}

struct ScoresOf<'a>(&'a CaseReport);

impl Serialize for ScoresOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        for (at, metric) in self.0.metrics.iter().enumerate() {
            if !matches!(metric.verdict, Verdict::Informational | Verdict::Skipped(_)) {
                out.serialize_entry(&metric.name, &MetricOf { case: self.0, metric, at })?;
            }
        }
        out.end()
    }
}

struct MetricOf<'a> {
    case: &'a CaseReport,
    metric: &'a MetricReport,
    at: usize,
}

impl Serialize for MetricOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Score", 3)?;
        out.serialize_field("score", &self.metric.score)?;
        out.serialize_field("status", status(&self.metric.verdict))?;
        out.serialize_field("details", &Details(self))?;
        out.end()
    }
}

struct Details<'a>(&'a MetricOf<'a>);

impl Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("per_invocation", &PerInvocation(self.0))?;
        if let Some(reason) = self.0.metric.verdict.reason() {
            out.serialize_entry("reason", reason)?;
        }
        out.end()
    }
}

struct PerInvocation<'a>(&'a MetricOf<'a>);

impl Serialize for PerInvocation<'_> {
    /// The score of each turn of each run; `null` where there is none.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_seq(None)?;
        for run in &self.0.case.runs {
            if let Some(RunScore::Scored(scores)) = run.scores.get(self.0.at) {
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
