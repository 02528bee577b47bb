//! Test bodies of the user's own: what their ends and their assertions add to the verdict.

use eval_support::message;

use super::evaluated::{EndedBody, Evaluated};
use crate::journal::TestLog;
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
        mut decide: impl FnMut(Vec<RunReport>) -> CaseReport,
    ) -> CaseReport {
        let reports = |runs: Vec<Evaluated>| runs.into_iter().map(Evaluated::into_report).collect();
        if self.failed.is_empty() {
            return decide(reports(runs));
        }
        let report = decide(reports(runs.clone()));
        // It is recorded in any case: `rescore` does not run the body again.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::transcript::Transcript;
    use crate::verdict::{Role, Verdict};

    /// A verdict by the errors of the runs alone.
    fn decide(runs: Vec<RunReport>) -> CaseReport {
        let error = runs.iter().find_map(|run| run.error.as_ref());
        let verdict = error.map_or(Verdict::Passed, |error| Verdict::error(error.role, &*error.message));
        CaseReport { runs, ..CaseReport::of_verdict(verdict) }
    }

    fn evaluated(error: Option<&str>) -> Evaluated {
        let error = error.map(|message| RunError::new(Role::Agent, Some(1), message));
        let report = RunReport { number: 1, transcript: Transcript::default(), error, metrics: Vec::new() };
        Evaluated::new(report, Arc::default(), None)
    }

    /// The verdict on a body that ended so in its only run.
    fn verdict(of_evaluation: Option<&str>, of_body: Option<&str>) -> Verdict {
        let failed = of_body.map(|message| RunError::new(Role::Body, None, message));
        let ended = EndedBody { evaluated: vec![evaluated(of_evaluation)], undone: None, failed };
        let (log, mut bodies) = (TestLog::default(), Bodies::default());
        let runs = bodies.add(ended, 1, &log);
        bodies.decide(runs, &log, decide).verdict
    }

    #[test]
    fn a_body_that_fails_after_a_passing_evaluation_fails_its_case() {
        assert_eq!(verdict(None, None), Verdict::Passed);
        assert_eq!(verdict(None, Some("left != right")), Verdict::error(Role::Body, "left != right"));
        let both = verdict(Some("connection refused"), Some("left != right"));
        assert_eq!(both, Verdict::error(Role::Agent, "connection refused"));
    }

    #[test]
    fn a_body_that_evaluated_nothing_says_why() {
        let error = |message| Some(RunError::new(Role::Body, None, message));
        for (undone, failed, says) in [
            (error("nothing was evaluated"), None, "nothing was evaluated"),
            (error("nothing was evaluated"), error("gave up"), "gave up"),
        ] {
            let log = TestLog::default();
            let ended = EndedBody { evaluated: Vec::new(), undone, failed };
            let runs = Bodies::default().add(ended, 1, &log);
            let messages: Vec<_> = runs.iter().filter_map(|run| run.report().error.as_ref()).collect();
            assert_eq!(messages.len(), 1);
            assert_eq!(messages[0].message, says);
        }
    }

    #[test]
    fn the_last_evaluation_of_the_run_is_blamed() {
        let of_run = |number| {
            let report =
                RunReport { number, transcript: Transcript::default(), error: None, metrics: Vec::new() };
            Evaluated::new(report, Arc::default(), None)
        };
        let mut runs = [1, 1, 2].map(of_run);
        blame(&mut runs, 1, &RunError::new(Role::Body, None, "left != right"), &TestLog::default());
        assert_eq!(runs.map(|run| run.report().error.is_some()), [false, true, false]);
    }
}
