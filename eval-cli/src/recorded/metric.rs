//! The verdict on a metric in JSON.

use eval_core::report::Verdict;

/// The name of a verdict on a metric.
pub(crate) fn metric_state(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Error { .. } => "error",
        Verdict::Skipped(_) => "skipped",
        Verdict::Informational => "informational",
        _ => "not_evaluated",
    }
}
