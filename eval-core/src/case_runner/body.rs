//! Test bodies of the user's own: what their assertions add to the verdict.

use crate::message;
use crate::report::{CaseReport, RunReport};
use crate::transcript::{RunError, Transcript};
use crate::verdict::Verdict;

/// What the bodies of a case came to, over all runs.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    /// How many bodies ran.
    count: usize,
    /// The first error of a body, and how many runs had been evaluated by then.
    failed: Option<(RunError, usize)>,
}

impl Bodies {
    /// Adds a body that ended. `evaluated` counts the runs so far, its own included.
    pub(super) fn add(&mut self, error: Option<RunError>, evaluated: usize) {
        self.count += 1;
        if let (None, Some(error)) = (&self.failed, error) {
            self.failed = Some((error, evaluated));
        }
    }

    /// Decides on the runs. A failing body fails the case, whatever its runs scored.
    pub(super) fn decide(
        self,
        mut runs: Vec<RunReport>,
        decide: impl Fn(Vec<RunReport>) -> CaseReport,
    ) -> CaseReport {
        let Some((error, evaluated)) = self.failed else {
            // A body that evaluated nothing made its own assertions, and none of them failed.
            let asserted_only = self.count > 0 && runs.is_empty();
            let report = decide(runs);
            return if asserted_only { passed(report) } else { report };
        };
        if !runs.is_empty() {
            let report = decide(runs.clone());
            if report.verdict.fails() {
                // What failed in `evaluate` says more than the assertion that noticed it.
                message::show(&format!("note: {error}"));
                return report;
            }
        }
        blame(&mut runs, evaluated, error);
        decide(runs)
    }
}

/// The report of a case whose bodies evaluated nothing and did not fail.
fn passed(report: CaseReport) -> CaseReport {
    CaseReport { metrics: Vec::new(), passed_runs: None, verdict: Verdict::Passed, ..report }
}

/// Puts the failure of a body on the run that it evaluated last, or on a run of its own if it evaluated none.
fn blame(runs: &mut Vec<RunReport>, evaluated: usize, error: RunError) {
    match evaluated.checked_sub(1).and_then(|last| runs.get_mut(last)) {
        Some(last) => last.error = Some(error),
        None => runs.insert(
            0,
            RunReport { transcript: Transcript::default(), error: Some(error), metrics: Vec::new() },
        ),
    }
}
