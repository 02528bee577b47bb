//! A run that was played and scored, until the verdict on its case.

use std::sync::Arc;

use eval_support::message;

use crate::agent::Log;
use crate::journal::TestLog;
use crate::play;
use crate::report::{CaseReport, RunReport};
use crate::transcript::{RunError, Transcript};

/// A run that was played and scored. Until the verdict it can still turn out to be broken.
#[derive(Clone, Debug)]
pub(crate) struct Evaluated {
    pub(crate) report: RunReport,
    /// The log of the conversation, which shows events that came too late.
    events: Arc<Log>,
    /// The number of the evaluation in the journal; `None` if no journal is written.
    number: Option<u32>,
}

pub(crate) struct EndedBody {
    /// The evaluations that ended, in the order of their ends.
    pub(crate) evaluated: Vec<Evaluated>,
    /// The error of an evaluation that is missing, so that the run cannot be decided.
    pub(crate) undone: Option<RunError>,
    /// The body's own error: an assertion, a panic, an `Err`.
    pub(crate) failed: Option<RunError>,
}

impl Evaluated {
    pub(super) fn new(report: RunReport, events: Arc<Log>, number: Option<u32>) -> Self {
        Self { report, events, number }
    }

    /// A run in which no conversation took place. It is recorded.
    pub(crate) fn broken(run: usize, error: RunError, log: &TestLog) -> Self {
        let mut transcript = Transcript { error: Some(error.clone()), ..Transcript::default() };
        let number = log.ran(run, false, &mut transcript, Vec::new()).map(|written| written.evaluation());
        let report = RunReport { number: run, transcript, error: Some(error), metrics: Vec::new() };
        Self { report, events: Arc::default(), number }
    }

    /// A run whose agent was not reached, and which is repeated. It was recorded, and is never scored.
    pub(super) fn unreached(run: usize, transcript: Transcript, events: Arc<Log>) -> Self {
        let error = transcript.error.clone();
        Self::new(RunReport { number: run, transcript, error, metrics: Vec::new() }, events, None)
    }

    pub(super) fn look_for_late_events(&mut self, log: &TestLog) {
        if let (false, Some(error)) = (self.is_broken(), self.late()) {
            self.fail(error, log);
        }
    }

    fn is_broken(&self) -> bool {
        self.report.error.as_ref().is_some_and(RunError::breaks)
    }

    pub(super) fn late(&self) -> Option<RunError> {
        play::late(&self.events)
    }

    /// Makes the run an error, in the journal too: rescoring must not take it for a complete run.
    pub(super) fn fail(&mut self, error: RunError, log: &TestLog) {
        log.broke_later(self.report.number, self.number, &error);
        self.report.transcript.error = Some(error.clone());
        self.report.error = Some(error);
    }
}

/// The test bodies of a case that failed although they evaluated the case, over all runs.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    failed: Vec<(usize, RunError)>,
}

impl Bodies {
    /// The evaluations of a body that ended. If there is none, the result is a broken one with the error.
    pub(super) fn add(&mut self, ended: EndedBody, run: usize, log: &TestLog) -> Vec<Evaluated> {
        let EndedBody { mut evaluated, undone, failed } = ended;
        if evaluated.is_empty() {
            // The body's own error says more than the missing evaluation.
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
        let reports = |runs: Vec<Evaluated>| runs.into_iter().map(|run| run.report).collect();
        if self.failed.is_empty() {
            return decide(reports(runs));
        }
        let report = decide(reports(runs.clone()));
        // The error is recorded in any case: `rescore` does not run the body again.
        for (run, error) in &self.failed {
            blame(&mut runs, *run, error, log);
        }
        if !report.verdict.fails() {
            return decide(reports(runs));
        }
        // The failure in `evaluate` says more than the assertion that noticed it.
        for (run, error) in &self.failed {
            message::show(&format!("note: run {run}: {error}"));
        }
        report
    }
}

/// Puts an error on the last evaluation of a run, unless that ended in an error of its own.
pub(super) fn blame(runs: &mut [Evaluated], run: usize, error: &RunError, log: &TestLog) {
    let of_run = |evaluated: &&mut Evaluated| evaluated.report.number == run;
    if let Some(last) = runs.iter_mut().rfind(of_run).filter(|last| !last.is_broken()) {
        last.fail(error.clone(), log);
    }
}

#[cfg(test)]
mod body_tests {
    use std::sync::Arc;

    use super::*;
    use crate::transcript::Transcript;
    use crate::verdict::{Role, Verdict};

    /// A verdict by the errors of the runs alone.
    fn decide(runs: Vec<RunReport>) -> CaseReport {
        let error = runs.iter().find_map(|run| run.error.as_ref());
        let verdict = error.map_or(Verdict::Passed, |error| Verdict::error(error.role, &*error.message));
        CaseReport { runs, ..CaseReport::of_verdict(eval_format::EvalCase::new("c"), verdict) }
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
            let messages: Vec<_> = runs.iter().filter_map(|run| run.report.error.as_ref()).collect();
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
        assert_eq!(runs.map(|run| run.report.error.is_some()), [false, true, false]);
    }
}
