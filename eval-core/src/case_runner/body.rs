//! Test bodies of the user's own: what their ends and their assertions add to the verdict.

use super::evaluated::{EndedBody, Evaluated};
use crate::journal::TestLog;
use crate::message;
use crate::report::{CaseReport, RunReport};
use crate::transcript::RunError;

/// The bodies of a case that failed although they evaluated it, over all runs.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    /// The run and the error of each.
    failed: Vec<(usize, RunError)>,
}

impl Bodies {
    /// The evaluations of a body that ended. A run has at least one: an error if none came to its end.
    pub(super) fn add(&mut self, ended: EndedBody, run: usize, log: &TestLog) -> Vec<Evaluated> {
        let EndedBody { mut evaluated, undone, failed } = ended;
        if evaluated.is_empty() {
            // Why the body gave up says more than that nothing was evaluated.
            let error = failed.or(undone);
            evaluated.extend(error.map(|error| Evaluated::broken(run, error, log)));
            return evaluated;
        }
        if let Some(undone) = undone {
            blame(&mut evaluated, run, &undone, log);
        }
        self.failed.extend(failed.map(|error| (run, error)));
        evaluated
    }

    /// Decides on the runs. A failing body fails its run, whatever the run scored.
    pub(super) fn decide(
        self,
        mut runs: Vec<Evaluated>,
        log: &TestLog,
        decide: impl Fn(Vec<RunReport>) -> CaseReport,
    ) -> CaseReport {
        let reports = |runs: Vec<Evaluated>| runs.into_iter().map(Evaluated::into_report).collect();
        if self.failed.is_empty() {
            return decide(reports(runs));
        }
        let report = decide(reports(runs.clone()));
        // On record in any case: nobody who scores the runs again can tell what the body would say then.
        for (run, error) in &self.failed {
            blame(&mut runs, *run, error, log);
        }
        if !report.verdict.fails() {
            return decide(reports(runs));
        }
        // What failed in `evaluate` says more than the assertion that noticed it.
        for (run, error) in &self.failed {
            message::show(&format!("note: run {run}: {error}"));
        }
        report
    }
}

/// Puts an error on the last evaluation of a run, unless that ended in an error of its own.
pub(super) fn blame(runs: &mut [Evaluated], run: usize, error: &RunError, log: &TestLog) {
    let of_run = |evaluated: &&mut Evaluated| evaluated.report().number == run;
    if let Some(last) = runs.iter_mut().rfind(of_run).filter(|last| last.report().error.is_none()) {
        last.fail(error.clone(), log);
    }
}
