//! Recorded cases as reports.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use eval_core::__private::failure_texts;
use eval_core::journal::{Decided, Head, Ran, Scored, Started};
use eval_core::report::{CaseReport, Location, MetricReport, Role, RunReport, Transcript, Verdict};
use eval_format::EvalCase;

use super::attempts::decide_runs;
use super::read::{Attempt, Evaluation, RecordedTest};

impl Attempt {
    /// The report of the case as it was recorded, for its exports. `None` if the case has no verdict, or if a run lacks the
    /// score of a metric that decided: a report never leaves a metric out.
    ///
    /// A journal does not hold the expectations of a case, so the caller gives the case. It should be the
    /// case that ran: [`Started::asks`](eval_core::journal::Started::asks) and
    /// [`expects`](eval_core::journal::Started::expects) tell.
    pub fn report(&self, case: EvalCase) -> Option<CaseReport> {
        let Decided { verdict, metrics, passed_runs, elapsed, notes, .. } = self.decided.clone()?;
        if !self.evaluations.iter().all(|evaluation| is_whole(evaluation, &metrics)) {
            return None;
        }
        let started = &self.started;
        let location =
            || Some(Location { file: started.file.clone()?, line: started.line?, column: started.column? });
        Some(CaseReport {
            eval_set_id: started.eval_set_id.clone(),
            case,
            location: location(),
            label: started.label.clone(),
            runs: self.evaluations.iter().map(|it| run(&it.ran, it.scored.as_ref())).collect(),
            metrics,
            passed_runs,
            gate: started.gate,
            literal: started.literal,
            verdict,
            elapsed,
            notes,
            repeated: self.repeated_reports(),
        })
    }

    /// The transcripts of the runs, in order, to be scored again.
    pub fn transcripts(&self) -> Vec<Transcript> {
        self.evaluations.iter().map(|evaluation| evaluation.ran.transcript.clone()).collect()
    }

    /// The reports of the runs that `retry` repeated. None of them was scored.
    pub fn repeated_reports(&self) -> Vec<RunReport> {
        self.repeated.iter().map(|ran| run(ran, None)).collect()
    }
}

fn run(ran: &Ran, scored: Option<&Scored>) -> RunReport {
    let transcript = ran.transcript.clone();
    let metrics = scored.map(|scored| scored.metrics.clone()).unwrap_or_default();
    RunReport { number: ran.run, error: transcript.error.clone(), transcript, metrics }
}

/// Whether an evaluation has a score of each metric that decided. An evaluation that ended in an error was not scored.
fn is_whole(Evaluation { ran, scored, .. }: &Evaluation, decided: &[MetricReport]) -> bool {
    let names = || decided.iter().map(|metric| &metric.name);
    match scored {
        Some(scored) => decided.is_empty() || scored.metrics.iter().map(|metric| &metric.name).eq(names()),
        None => decided.is_empty() || ran.transcript.error.is_some(),
    }
}

impl RecordedTest {
    /// A case of a report in memory. These two times are the only ones it has.
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
            turn: None,
            evaluations: report.runs.iter().map(evaluation).collect(),
            repeated: report.repeated.iter().map(Ran::of_report).collect(),
            decided: Some(Decided::of_report(report, failure_texts(report), ended)),
        };
        decide_runs(&mut attempt);
        Self { attempts: vec![attempt] }
    }

    /// The same test after a change of its last attempt. Its transcripts hold only their error and the calls of models.
    #[doc(hidden)]
    #[must_use]
    pub fn with_last(&self, change: impl FnOnce(&mut Attempt)) -> Self {
        let mut test = self.clone();
        for attempt in &mut test.attempts {
            for ran in attempt.evaluations.iter_mut().map(|it| &mut it.ran).chain(&mut attempt.repeated) {
                let Transcript { error, models, .. } = std::mem::take(&mut ran.transcript);
                ran.transcript = Transcript { error, models, ..Transcript::default() };
            }
        }
        test.attempts.last_mut().map(change);
        test
    }
}

impl Attempt {
    /// The records of all runs, with those that `retry` repeated.
    pub fn runs(&self) -> impl Iterator<Item = &Ran> {
        self.evaluations.iter().map(|evaluation| &evaluation.ran).chain(&self.repeated)
    }

    /// Replaces the scores and the verdict with the results in a report of the same runs.
    #[doc(hidden)]
    pub fn rescore(&mut self, report: &CaseReport) {
        let Started { asks, expects, literal, .. } = Started::of_report(report, self.started.at);
        (self.started.asks, self.started.expects, self.started.literal) = (asks, expects, literal);
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
        decide_runs(self);
    }

    /// Replaces the scores and the verdict with an error: the case could not be scored again, for this
    /// reason.
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
