//! Scores and verdicts, as answers have them.

use eval_core::Score;
use eval_core::report::{MetricOutcome, Role, ScoredMetric};
use eval_format::metric::{Need, metric};

/// Whether a metric asks a judge.
pub(crate) fn is_judged(name: &str) -> bool {
    metric(name).is_some_and(|info| info.needs.contains(&Need::Judge))
}

/// The scores of a metric, one for each turn or one for the whole run; none if it was not scored.
pub(crate) fn scores(metric: &ScoredMetric) -> &[Score] {
    match &metric.outcome {
        MetricOutcome::Scored(scores) => scores.scores(),
        _ => &[],
    }
}

/// The overall score of a metric; `None` if it was not scored.
pub(crate) fn overall(metric: &ScoredMetric) -> Option<f64> {
    match &metric.outcome {
        MetricOutcome::Scored(scores) => scores.overall(),
        _ => None,
    }
}

/// A word for what failed.
pub(crate) fn kind_of_error(role: Role) -> &'static str {
    match role {
        // The agent is what the trace says.
        Role::Agent => "TraceError",
        Role::Judge => "JudgeError",
        Role::Metric => "MetricError",
        _ => "HarnessError",
    }
}
