//! The report in the field names of adk-rs 0.6, whose own types read it.

use serde_core::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde_core::{Serialize, Serializer};

use crate::metric::Score;
use crate::report::{CaseReport, EvalReport, MetricOutcome, MetricReport, Summary};
use crate::secrets::mask;
use crate::verdict::Verdict;

impl Serialize for EvalReport {
    /// Serialises as adk-rs's report: `{"results": [..], "summary": {..}}`.
    ///
    /// ```
    /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay, json};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny."));
    /// let set = EvalSet::new("weather").case(case);
    /// let report = EvalRunner::new().run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
    ///
    /// let json = serde_json::to_value(&report)?;
    /// assert_eq!(json["results"][0]["scores"]["response_match_score"]["status"], "PASSED");
    /// let summary = json!({ "total": 1, "passed": 1, "failed": 0, "errors": 0, "skipped": 0, "pass_rate": 1.0 });
    /// assert_eq!(json["summary"], summary);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A result has `eval_set_id`, `eval_case_id`, `scores` and `overall_status`; statuses are `PASSED`, `FAILED` and
    /// `ERROR`. Metrics that never gate are left out. `details`, which adk-rs leaves open, has the scores of the turns, the
    /// threshold, the number of runs, and how many of them passed if they are decided one by one. adk-rs's types need a number, so a missing score is 0 with the status
    /// `ERROR`. Metrics that were skipped have no number at all: they stand in `skipped`, with the reason. A skipped case is
    /// an `ERROR` to adk-rs, and so it counts among the `errors` of `summary` too.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("EvalReport", 2)?;
        out.serialize_field("results", &self.cases)?;
        out.serialize_field("summary", &self.summary())?;
        out.end()
    }
}

impl Serialize for Summary {
    /// The counts and `pass_rate`, which is `null` if no case was checked. `errors` counts the skipped cases too: adk-rs has
    /// no other status for them, and its counts add up to `total`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Summary", 6)?;
        out.serialize_field("total", &self.total)?;
        out.serialize_field("passed", &self.passed)?;
        out.serialize_field("failed", &self.failed)?;
        out.serialize_field("errors", &(self.errors + self.skipped))?;
        out.serialize_field("skipped", &self.skipped)?;
        out.serialize_field("pass_rate", &self.pass_rate())?;
        out.end()
    }
}

impl Serialize for CaseReport {
    /// An entry of `results`. Three fields are there if they have something to say, and adk-rs reads none of them: `error`,
    /// the reason of the verdict; `skipped`, the metrics that were skipped; `label`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reason = self.verdict.reason();
        let has_skipped = self.skipped_metrics().next().is_some();
        let more = [reason.is_some(), has_skipped, self.label.is_some()];
        let fields = 4 + more.into_iter().filter(|is_there| *is_there).count();
        let mut out = serializer.serialize_struct("CaseReport", fields)?;
        out.serialize_field("eval_set_id", self.eval_set_id.as_deref().unwrap_or_default())?;
        out.serialize_field("eval_case_id", self.eval_id())?;
        out.serialize_field("scores", &ScoresOf(self))?;
        out.serialize_field("overall_status", status(&self.verdict))?;
        if let Some(reason) = reason {
            out.serialize_field("error", &mask(reason))?;
        }
        if has_skipped {
            out.serialize_field("skipped", &SkippedOf(self))?;
        }
        if let Some(label) = &self.label {
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
