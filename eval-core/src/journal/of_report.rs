//! Records made of reports: a report in memory, and a run that was scored again, are shown as recorded runs are. They leave out
//! what the agent did.

use std::collections::BTreeMap;
use std::time::SystemTime;

use eval_format::{EvalCase, Meaning, Pass};

use super::record::{Decided, Head, Ran, SCHEMA, Scored, Started};
use crate::report::{CaseReport, RunReport};
use crate::transcript::Transcript;

impl Head {
    /// The head of a journal of this process that was never written.
    #[doc(hidden)]
    pub fn unwritten(started: SystemTime) -> Self {
        Self {
            schema: SCHEMA,
            evalset: env!("CARGO_PKG_VERSION").to_owned(),
            run: String::new(),
            package: None,
            workspace: None,
            version: None,
            binary: None,
            pid: std::process::id(),
            started,
            args: Vec::new(),
            again: None,
            program: None,
            built: None,
            env: BTreeMap::new(),
        }
    }
}

impl Started {
    /// The beginning of a case that a program ran. A report does not tell how its runs were combined.
    #[doc(hidden)]
    pub fn of_report(report: &CaseReport, at: SystemTime) -> Self {
        let Meaning { asks, expects, .. } = Meaning::of(&report.case);
        let location = report.location.as_ref();
        Self {
            test: 1,
            name: name_of(report.eval_set_id.as_deref(), &report.case),
            of_program: true,
            label: report.label.clone(),
            eval_set_id: report.eval_set_id.clone(),
            eval_id: report.case.eval_id.clone(),
            file: location.map(|location| location.file.clone()),
            set_file: None,
            line: location.map(|location| location.line),
            column: location.map(|location| location.column),
            asks,
            expects,
            set_cases: None,
            runs: report.run_count(),
            pass: Pass::Mean,
            gate: report.gate,
            attempt: 1,
            at,
        }
    }
}

impl Ran {
    /// What ended a run, and its tokens.
    #[doc(hidden)]
    pub fn of_report(run: &RunReport) -> Self {
        Self {
            test: 1,
            run: run.number,
            evaluation: 1,
            repeated: false,
            transcript: Transcript { error: run.error.clone(), ..Transcript::default() },
            tokens: run.transcript.tokens(),
            // A report does not tell what was asked to play the user.
            simulator: Vec::new(),
        }
    }
}

impl Scored {
    /// The scores of a run; `None` if it has none.
    #[doc(hidden)]
    pub fn of_report(run: &RunReport) -> Option<Self> {
        let metrics = run.metrics.clone();
        (!metrics.is_empty()).then_some(Self { test: 1, run: run.number, evaluation: 1, metrics })
    }
}

impl Decided {
    /// The verdict on a case. If it fails, the texts are what is wrong in one line and what a test prints.
    #[doc(hidden)]
    pub fn of_report(report: &CaseReport, texts: Option<(String, String)>, at: SystemTime) -> Self {
        let (headline, failure) = texts.unzip();
        Self {
            test: 1,
            verdict: report.verdict.clone(),
            metrics: report.metrics.clone(),
            passed_runs: report.passed_runs,
            elapsed: report.elapsed,
            notes: report.notes.clone(),
            repeated: report.repeated.len(),
            headline,
            failure,
            at,
        }
    }
}

/// The name of a case that a program runs.
pub(super) fn name_of(eval_set_id: Option<&str>, case: &EvalCase) -> String {
    let eval_id = &case.eval_id;
    eval_set_id.map_or_else(|| eval_id.clone(), |set| format!("{set}/{eval_id}"))
}
