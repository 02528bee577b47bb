//! Whether a run of a case passed, by what is recorded of it.

use eval_format::Gate;

use super::read::{Attempt, Evaluation};
use crate::report::{MetricOutcome, MetricReport};

/// Decides the runs of an attempt, each on its own.
pub(super) fn decide(attempt: &mut Attempt) {
    let metrics = attempt.decided.as_ref().map(|decided| decided.metrics.as_slice()).unwrap_or_default();
    for evaluation in &mut attempt.evaluations {
        if evaluation.passed.is_none() {
            evaluation.passed = passed(evaluation, metrics, attempt.started.gate);
        }
    }
}

/// Whether a run passed every metric that gates; `None` if it has no verdict.
fn passed(evaluation: &Evaluation, metrics: &[MetricReport], gate: Gate) -> Option<bool> {
    if evaluation.ran.transcript.error.is_some() {
        return None;
    }
    let scored = evaluation.scored.as_ref()?;
    let mut passed = None;
    for metric in metrics {
        let Some(threshold) = metric.threshold() else { continue };
        match scored.metrics.iter().find(|score| score.name == metric.name).map(|metric| &metric.outcome) {
            Some(MetricOutcome::Scored(scores)) if scores.counted().all(|score| score.value().is_some()) => {
                passed = Some(passed.unwrap_or(true) && scores.reaches(threshold, gate));
            }
            Some(MetricOutcome::Skipped(_) | MetricOutcome::Unjudged(_)) => {}
            _ => return None,
        }
    }
    passed
}
