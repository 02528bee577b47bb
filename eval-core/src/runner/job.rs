//! A case of a runner.

use std::sync::Arc;

use eval_format::{EvalCase, EvalSet};

use super::prepare::Prepared;
use crate::case_runner::IdentifiedCase;
use crate::journal::{ProgramCase, TestLog};
use crate::report::CaseReport;
use crate::transcript::RunError;
use crate::verdict::{Role, Verdict};

/// A case to run, with what it is run with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) eval_set_id: Option<&'a str>,
    pub(super) case: &'a EvalCase,
}

impl<'a> Job<'a> {
    /// The cases of a set.
    pub(super) fn of_set(prepared: &'a Prepared, set: &'a EvalSet) -> impl Iterator<Item = Self> {
        let eval_set_id = Some(set.eval_set_id.as_str());
        set.eval_cases.iter().map(move |case| Self { prepared, eval_set_id, case })
    }

    /// The case with what identifies it in reports, and in this log.
    pub(super) fn identified(&self, log: Arc<TestLog>) -> IdentifiedCase<'a> {
        let Self { prepared, eval_set_id, case } = *self;
        let location = prepared.places.location(&case.eval_id).cloned();
        IdentifiedCase { eval_set_id, case, location, name: format!("case `{}`", case.eval_id), log }
    }

    /// What the journal says of the case.
    pub(super) fn recorded(&self, label: Option<&'a str>) -> ProgramCase<'a> {
        let Self { prepared: Prepared { places, cases, .. }, eval_set_id, case } = *self;
        ProgramCase {
            eval_set_id,
            case,
            label,
            location: places.location(&case.eval_id),
            path: places.path(),
            set_cases: Some(*cases),
        }
    }

    /// The report of a case that has no verdict.
    pub(super) fn interrupted(&self) -> CaseReport {
        let error = RunError::new(Role::Harness, None, "interrupted before it had a verdict");
        self.prepared.runner.decide_unplayed(&self.identified(Arc::default()), error)
    }

    /// The report of a case that is not run, since another one failed.
    pub(super) fn left_out(&self, failed: &str) -> CaseReport {
        let report = self.interrupted();
        let reason = format!("not run: `{failed}` did not pass, and the run ends at the first such case");
        CaseReport {
            runs: Vec::new(),
            metrics: Vec::new(),
            passed_runs: None,
            verdict: Verdict::Skipped(reason),
            ..report
        }
    }
}
