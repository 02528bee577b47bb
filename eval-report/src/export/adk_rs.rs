//! The report in the field names of adk-rs 0.6, whose own types read it.

use eval_core::report::{CaseReport, EvalReport, MetricOutcome, MetricReport};
use eval_core::{Score, Verdict};
use eval_format::Direction;
use eval_support::secrets::mask;
use serde_json::{Map, Value, json};

/// A report in adk-rs's form. `errors` counts the skipped cases too: adk-rs has no other status for them, and its counts add up
/// to `total`. `pass_rate` is `null` if no case was checked.
pub(super) fn report(report: &EvalReport) -> Value {
    let summary = report.summary();
    json!({
        "results": report.cases.iter().map(case).collect::<Vec<_>>(),
        "summary": {
            "total": summary.total,
            "passed": summary.passed,
            "failed": summary.failed,
            "errors": summary.errors + summary.skipped,
            "skipped": summary.skipped,
            "pass_rate": summary.pass_rate(),
        },
    })
}

/// An entry of `results`. Three optional fields are not read by adk-rs: `error`, the reason of the verdict;
/// `skipped`, the metrics that were skipped; `label`.
fn case(case: &CaseReport) -> Value {
    let is_scored =
        |metric: &&MetricReport| !matches!(metric.verdict, Verdict::Informational | Verdict::Skipped(_));
    let scored = case.metrics.iter().filter(is_scored);
    let scores: Map<String, Value> = scored.map(|it| (it.name.clone(), metric(case, it))).collect();
    let reason = |metric: &MetricReport| json!(mask(metric.verdict.reason().unwrap_or_default()));
    let skipped: Map<String, Value> =
        case.skipped_metrics().map(|metric| (metric.name.clone(), reason(metric))).collect();
    let mut out = json!({
        "eval_set_id": case.eval_set_id.as_deref().unwrap_or_default(),
        "eval_case_id": case.eval_id(),
        "scores": scores,
        "overall_status": status(&case.verdict),
    });
    if let Some(reason) = case.verdict.reason() {
        out["error"] = json!(mask(reason));
    }
    if !skipped.is_empty() {
        out["skipped"] = Value::Object(skipped);
    }
    if let Some(label) = &case.label {
        out["label"] = json!(mask(label));
    }
    out
}

/// An entry of `scores`. adk-rs requires a number, so a missing score is 0 with the status `ERROR` and the
/// reason in `details`, even if some turns have a score. `NaN` and infinite scores are 0 too.
/// `per_invocation` has the score of each turn of each run; `null` for a turn without a score.
fn metric(case: &CaseReport, metric: &MetricReport) -> Value {
    let decided = matches!(metric.verdict, Verdict::Passed | Verdict::Failed);
    let outcomes = case.runs.iter().filter_map(|run| Some(&run.metric(&metric.name)?.outcome));
    let scores = outcomes.filter_map(|outcome| match outcome {
        MetricOutcome::Scored(scores) => Some(scores.scores()),
        _ => None,
    });
    let mut details = json!({
        "per_invocation": scores.flatten().map(Score::value).collect::<Vec<_>>(),
        "threshold": metric.threshold(),
        "runs": case.run_count(),
    });
    if let Some(bound) = metric.bound().filter(|bound| bound.direction == Direction::AtMost) {
        details["direction"] = json!(bound.direction.as_str());
    }
    if let Some(passed) = metric.passed_runs {
        // The mean alone would not say why it passed.
        details["passed_runs"] = json!(passed);
    }
    if let Some(reason) = metric.verdict.reason() {
        details["reason"] = json!(mask(reason));
    }
    json!({
        "score": metric.score.filter(|score| decided && score.is_finite()).unwrap_or(0.0),
        "status": status(&metric.verdict),
        "details": details,
    })
}

fn status(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "PASSED",
        Verdict::Failed => "FAILED",
        _ => "ERROR",
    }
}
