//! Tests of runs that stand in no journal: reports in memory, and recorded tests that were scored again. They leave out what the
//! agent did.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use eval_core::__private::failure_texts;
use eval_core::journal::{Decided, Head, Ran, Scored, Started};
use eval_core::report::{CaseReport, Role, RunReport, Transcript, Verdict};

use super::passed;
use super::read::{Attempt, Evaluation, RecordedRun, RecordedTest};

impl RecordedRun {
    /// The same run with other tests.
    pub(crate) fn with_tests(&self, tests: Vec<RecordedTest>) -> Self {
        Self {
            tests,
            ids: self.ids.clone(),
            processes: self.processes.clone(),
            torn: self.torn,
            never_began: self.never_began.clone(),
            listings: self.listings.clone(),
            unlisted: self.unlisted.clone(),
            lost: self.lost,
            unreadable: self.unreadable.clone(),
            missing_parts: self.missing_parts.clone(),
        }
    }
}

impl RecordedTest {
    /// The case of a report. It has no more than these two times.
    pub(crate) fn of_report(report: &CaseReport, began: SystemTime, ended: SystemTime) -> Self {
        let evaluation = |run: &RunReport| Evaluation {
            ran: Ran::of_report(run),
            scored: Scored::of_report(run),
            passed: None,
        };
        let mut attempt = Attempt {
            head: Arc::new(Head::unwritten(began)),
            file: Path::new("").into(),
            started: Started::of_report(report, began),
            evaluations: report.runs.iter().map(evaluation).collect(),
            repeated: report.repeated.iter().map(Ran::of_report).collect(),
            decided: Some(Decided::of_report(report, failure_texts(report), ended)),
        };
        passed::decide(&mut attempt);
        Self { attempts: vec![attempt] }
    }

    /// The same test after a change of its last attempt.
    #[doc(hidden)]
    #[must_use]
    pub fn with_last(&self, change: impl FnOnce(&mut Attempt)) -> Self {
        let mut test = self.clone();
        for attempt in &mut test.attempts {
            for ran in attempt.evaluations.iter_mut().map(|it| &mut it.ran).chain(&mut attempt.repeated) {
                let error = ran.transcript.error.take();
                ran.transcript = Transcript { error, ..Transcript::default() };
            }
        }
        test.attempts.last_mut().map(change);
        test
    }
}

impl Attempt {
    /// Takes the scores and the verdict of a report of the same runs.
    #[doc(hidden)]
    pub fn rescore(&mut self, report: &CaseReport) {
        let Started { asks, expects, .. } = Started::of_report(report, self.started.at);
        (self.started.asks, self.started.expects) = (asks, expects);
        for (evaluation, run) in self.evaluations.iter_mut().zip(&report.runs) {
            evaluation.ran.transcript.error.clone_from(&run.error);
            evaluation.passed = None;
            evaluation.scored = Scored::of_report(run);
            if let Some(scored) = &mut evaluation.scored {
                scored.run = evaluation.ran.run;
            }
        }
        if let Some(decided) = &mut self.decided {
            let (elapsed, repeated) = (decided.elapsed, decided.repeated);
            *decided = Decided::of_report(report, failure_texts(report), decided.at);
            (decided.elapsed, decided.repeated) = (elapsed, repeated);
        }
        passed::decide(self);
    }

    /// Takes the verdict that the case could not be scored again, for this reason.
    #[doc(hidden)]
    pub fn fail_to_rescore(&mut self, why: &str) {
        for evaluation in &mut self.evaluations {
            (evaluation.scored, evaluation.passed) = (None, None);
        }
        if let Some(decided) = &mut self.decided {
            decided.verdict = Verdict::Error { role: Role::Harness, message: why.to_owned() };
            decided.metrics.clear();
            (decided.passed_runs, decided.headline, decided.failure) = (None, None, None);
        }
    }
}
