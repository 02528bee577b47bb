//! How many runs of a case ran, were decided, and passed.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::journal::Attempt;
use crate::statistics::Tally;

/// Counts of the runs of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunCounts {
    /// Planned runs, or the runs that ended if these are more.
    pub total: usize,
    /// Runs that ended, with or without an error.
    pub ran: usize,
    /// Runs with a verdict of their own: every metric that gates has a score for every turn.
    #[serde(rename = "with_verdict")]
    pub judged: usize,
    /// Runs that passed every metric that gates.
    pub passed: usize,
}

impl RunCounts {
    pub(super) fn of(attempt: &Attempt) -> Self {
        // A run in which a test body evaluated several times passes if each of them does.
        let mut runs: BTreeMap<usize, Option<bool>> = BTreeMap::new();
        for evaluation in &attempt.evaluations {
            let passed = evaluation.passed;
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
    pub fn tally(self) -> Tally {
        Tally::new(self.passed, self.total).unwrap_or_default()
    }

    /// Whether some runs with a verdict passed and others did not.
    pub fn are_flaky(self) -> bool {
        Tally::new(self.passed, self.judged).is_ok_and(Tally::is_flaky)
    }
}
