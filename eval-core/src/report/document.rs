//! The report as a JSON document of our own, with all that decides a verdict.

use eval_support::secrets::mask;
use serde_core::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::report::{CaseReport, EvalReport, MetricOutcome, MetricReport, RunReport, ScoredMetric};
use crate::verdict::Verdict;

/// The version of the document. It grows if a field changes its meaning or goes, and not for new fields.
const SCHEMA: u32 = 1;

impl EvalReport {
    /// The report as JSON: cases, metrics with their thresholds, runs, and what was skipped.
    ///
    /// ```
    /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay, json};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny."));
    /// let set = EvalSet::new("weather").case(case);
    /// let report = EvalRunner::new().runs(2).run_set(&set, || Replay::new([["Sunny."]]), 1).await?.to_json();
    ///
    /// let case = &report["cases"][0];
    /// assert_eq!((&case["eval_id"], &case["state"]), (&json!("sunny"), &json!("passed")));
    /// assert_eq!(case["metrics"][1]["threshold"], 0.8);
    /// assert_eq!(case["metrics"][1]["runs"][1], json!({ "run": 2, "state": "scored", "scores": [1.0], "reason": null }));
    /// assert_eq!(report["summary"]["passed"], 1);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// `docs/eval-report.schema.json` is its JSON Schema. Fields have the names that they have in `cargo evalset report
    /// --json`. A score that is missing, or is no finite number, is `null`. Secrets are masked.
    pub fn to_json(&self) -> Value {
        let count =
            |is_meant: fn(&Verdict) -> bool| self.cases.iter().filter(|case| is_meant(&case.verdict)).count();
        let summary = self.summary();
        json!({
            "schema": SCHEMA,
            "cases": self.cases.iter().map(case).collect::<Vec<_>>(),
            "summary": {
                "cases": summary.total,
                "passed": summary.passed,
                "failed": summary.failed,
                "not_evaluated": count(|verdict| matches!(verdict, Verdict::NotEvaluated(_))),
                "errors": count(|verdict| matches!(verdict, Verdict::Error { .. })),
                "skipped": summary.skipped,
                "pass_rate": summary.pass_rate(),
            },
        })
    }
}

/// As [`EvalReport::to_json`].
impl Serialize for EvalReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

fn case(case: &CaseReport) -> Value {
    let place = case.location.as_ref();
    let place = place.map(|place| json!({ "file": place.file, "line": place.line, "column": place.column }));
    json!({
        "eval_set_id": case.eval_set_id,
        "eval_id": case.eval_id(),
        "label": case.label.as_deref().map(mask),
        "place": place,
        "state": case.verdict.name(),
        "role": role(&case.verdict),
        "reason": reason(&case.verdict),
        "gate": case.gate.to_string(),
        "passed_runs": case.passed_runs,
        "repeated": case.repeated.len(),
        "seconds": case.elapsed.as_secs_f64(),
        "notes": masked(&case.notes),
        "metrics": case.metrics.iter().map(|of| metric(of, &case.runs)).collect::<Vec<_>>(),
        "skipped_metrics": case.skipped_metrics().map(|metric| &metric.name).collect::<Vec<_>>(),
        "runs": case.runs.iter().map(run).collect::<Vec<_>>(),
    })
}

fn run(run: &RunReport) -> Value {
    let error = run.error.as_ref().map(|error| mask(&error.to_string()).into_owned());
    json!({ "run": run.number, "turns": run.transcript.turns.len(), "error": error })
}

fn metric(metric: &MetricReport, runs: &[RunReport]) -> Value {
    let scored = runs.iter().filter_map(|run| {
        let scored = run.metrics.iter().find(|scored| scored.name == metric.name)?;
        Some(scored_run(run.number, scored))
    });
    json!({
        "name": metric.name,
        "state": metric.verdict.name(),
        "reason": reason(&metric.verdict),
        "score": metric.score.filter(|score| score.is_finite()),
        "threshold": metric.threshold(),
        "direction": metric.bound().map(|bound| bound.direction.as_str()),
        "scored": metric.scored,
        "total": metric.total,
        "passed_runs": metric.passed_runs,
        "notes": masked(&metric.notes),
        "runs": scored.collect::<Vec<_>>(),
    })
}

fn scored_run(run: usize, metric: &ScoredMetric) -> Value {
    let scores = match &metric.outcome {
        MetricOutcome::Scored(scores) => {
            let values = scores.scores().iter().map(|score| score.value().filter(|value| value.is_finite()));
            Some(values.collect::<Vec<_>>())
        }
        _ => None,
    };
    let reason = metric.outcome.reason().map(|why| mask(&why).into_owned());
    json!({ "run": run, "state": metric.outcome.name(), "scores": scores, "reason": reason })
}

fn role(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Error { role, .. } => Some(role.to_string()),
        _ => None,
    }
}

fn reason(verdict: &Verdict) -> Option<String> {
    Some(mask(verdict.reason()?).into_owned())
}

fn masked(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| mask(text).into_owned()).collect()
}
