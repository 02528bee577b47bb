//! How many runs of a case ran, were decided, and passed.

use std::collections::BTreeMap;

use eval_core::journal::{Attempt, Evaluation};
use eval_core::report::{MetricOutcome, MetricReport};
use eval_core::statistics::Tally;
use eval_format::options::Gate;

/// Counts of the runs of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunCounts {
    /// Planned runs, or the runs that ended if these are more.
    pub(crate) total: usize,
    /// Runs that ended, with or without an error.
    pub(crate) ran: usize,
    /// Runs with a verdict of their own: every metric that gates has a score for every turn.
    pub(crate) judged: usize,
    /// Runs that passed every metric that gates.
    pub(crate) passed: usize,
}

impl RunCounts {
    pub(super) fn of(attempt: &Attempt) -> Self {
        let metrics = attempt.decided.as_ref().map(|decided| decided.metrics.as_slice()).unwrap_or_default();
        let gate = attempt.started.gate;
        // A run in which a test body evaluated several times passes if each of them does.
        let mut runs: BTreeMap<usize, Option<bool>> = BTreeMap::new();
        for evaluation in &attempt.evaluations {
            let passed = passed(evaluation, metrics, gate);
            let of_run = runs.entry(evaluation.ran.run).or_insert(passed);
            *of_run = of_run.zip(passed).map(|(one, other)| one && other);
        }
        let verdicts = || runs.values().copied().flatten();
        let ran = runs.len();
        // In earlier versions a test body could pass without evaluating the case.
        let planned = if ran == 0 && attempt.decided.is_some() { 0 } else { attempt.started.runs };
        Self {
            total: planned.max(ran),
            ran,
            judged: verdicts().count(),
            passed: verdicts().filter(|passed| *passed).count(),
        }
    }

    /// Passed runs of all runs. A run without a verdict did not pass.
    pub(crate) fn tally(self) -> Tally {
        Tally::new(self.passed, self.total).unwrap_or_default()
    }

    /// Whether some runs with a verdict passed and others did not.
    pub(crate) fn are_flaky(self) -> bool {
        Tally::new(self.passed, self.judged).is_ok_and(Tally::is_flaky)
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
            Some(MetricOutcome::Scored(scores))
                if scores.scores().iter().all(|score| score.value().is_some()) =>
            {
                passed = Some(passed.unwrap_or(true) && scores.reaches(threshold, gate));
            }
            Some(MetricOutcome::Skipped(_) | MetricOutcome::Unjudged(_)) => {}
            _ => return None,
        }
    }
    passed
}
