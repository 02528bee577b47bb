//! What one test adds to a journal, as it goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use eval_format::EvalCase;

use super::record::{self, Decided, JudgeUse, MetricLine, Started, case_hash};
use super::time;
use super::writer::{self, Journal};
use crate::plan::Plan;
use crate::private::Test;
use crate::report::CaseReport;
use crate::transcript::Transcript;
use crate::verdict::{Role, Verdict};

/// The part of a journal that tells of one test. Without a journal it does nothing.
#[derive(Debug, Default)]
pub(crate) struct TestLog {
    journal: Option<Arc<Journal>>,
    test: u32,
    evaluations: AtomicU32,
}

impl TestLog {
    /// Begins the log of a test of the attribute. The error is about a variable that cannot be read.
    pub(crate) fn of_test(test: &Test) -> Result<Self, String> {
        let Some(journal) = writer::of_tests(test.set.package)? else { return Ok(Self::default()) };
        let Test { set, source, .. } = test;
        let case = set.text.get(source.start..source.end).unwrap_or_default();
        Ok(Self::begin(journal, |number| Started {
            test: number,
            name: test.path(),
            eval_set_id: set.eval_set_id.to_owned(),
            eval_id: source.eval_id.to_owned(),
            file: set.shown.to_owned(),
            set_file: set.file.to_owned(),
            line: source.line as usize,
            column: source.column as usize,
            case_hash: case_hash(case),
            set_cases: set.cases.len(),
            runs: set.options.runs as usize,
            pass: set.options.pass,
            gate: set.options.gate,
            attempt: attempt(),
            at: time::now(),
        }))
    }

    /// Begins the log of a case that is run without the attribute.
    pub(crate) fn of_case(journal: Option<Arc<Journal>>, set: &str, case: &EvalCase, plan: &Plan) -> Self {
        let Some(journal) = journal else { return Self::default() };
        let name = if set.is_empty() { case.eval_id.clone() } else { format!("{set}/{}", case.eval_id) };
        Self::begin(journal, |number| Started {
            test: number,
            name,
            eval_set_id: set.to_owned(),
            eval_id: case.eval_id.clone(),
            file: String::new(),
            set_file: String::new(),
            line: 0,
            column: 0,
            case_hash: String::new(),
            set_cases: 0,
            runs: plan.runs,
            pass: plan.pass,
            gate: plan.gate,
            attempt: attempt(),
            at: time::now(),
        })
    }

    fn begin(journal: Arc<Journal>, started: impl FnOnce(u32) -> Started) -> Self {
        let test = journal.next_test();
        journal.add(started(test).line());
        Self { journal: Some(journal), test, evaluations: AtomicU32::new(1) }
    }

    /// The journal, where there is one.
    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.journal.as_deref()
    }

    /// Records what happened in a run. Returns the number of this evaluation.
    pub(crate) fn ran(&self, run: usize, transcript: &Transcript, simulator: &[JudgeUse]) -> u32 {
        let Some(journal) = &self.journal else { return 0 };
        let evaluation = self.evaluations.fetch_add(1, Ordering::Relaxed);
        journal.add(record::ran_line(self.test, run, evaluation, transcript, simulator));
        evaluation
    }

    /// Records how a run scored.
    pub(crate) fn scored(&self, run: usize, evaluation: u32, metrics: &[MetricLine<'_>]) {
        if let Some(journal) = &self.journal {
            journal.add(record::scored_line(self.test, run, evaluation, metrics));
        }
    }

    /// Records the verdict, with what the test prints.
    pub(crate) fn decided(&self, report: &CaseReport, failure: &str) {
        let Some(journal) = &self.journal else { return };
        let decided = Decided {
            test: self.test,
            verdict: report.verdict.clone(),
            metrics: report.metrics.clone(),
            passed_runs: report.passed_runs,
            elapsed: report.elapsed,
            notes: report.notes.clone(),
            failure: failure.to_owned(),
            at: time::now(),
        };
        journal.add(decided.line());
    }

    /// Records that the harness could not run or score the test.
    pub(crate) fn broke(&self, message: &str, failure: &str) {
        let Some(journal) = &self.journal else { return };
        let decided = Decided {
            test: self.test,
            verdict: Verdict::error(Role::Harness, message),
            metrics: Vec::new(),
            passed_runs: None,
            elapsed: std::time::Duration::ZERO,
            notes: Vec::new(),
            failure: failure.to_owned(),
            at: time::now(),
        };
        journal.add(decided.line());
    }
}

/// Which attempt of the runner this is.
fn attempt() -> u32 {
    std::env::var("NEXTEST_ATTEMPT").ok().and_then(|attempt| attempt.parse().ok()).unwrap_or(1)
}
