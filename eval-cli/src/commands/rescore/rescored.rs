//! The result of scoring a run again.

use eval_core::report::{CaseReport, MetricReport};

use super::recorded_scores::is_own;
use crate::output::Outcome;
use crate::recorded::{RunResults, State, TestResult};

/// A run, and the new scores of its cases.
#[derive(Debug)]
pub(super) struct RescoredRun<'r> {
    /// The run as `report` sees it.
    pub(super) results: &'r RunResults<'r>,
    pub(super) cases: Vec<RescoredCase<'r>>,
    /// A sentence for each case that a set has now and that did not run.
    pub(super) added: Vec<String>,
    /// A sentence for each case that was added or is gone, and that was left out on purpose.
    pub(super) left_out: Vec<String>,
}

/// A recorded test, and its new scores.
#[derive(Debug)]
pub(super) struct RescoredCase<'r> {
    pub(super) test: TestResult<'r>,
    pub(super) now: Now,
    /// Whether the case was edited since it ran.
    pub(super) is_edited: bool,
    /// The metrics that kept their recorded scores.
    pub(super) kept: Vec<String>,
}

/// The result of scoring a case again.
#[derive(Debug)]
pub(super) enum Now {
    Scored(Box<CaseReport>),
    /// There is nothing to score, for this reason. The recorded verdict is kept.
    AsBefore(String),
    /// It could not be scored again, for this reason.
    Not(String),
}

impl RescoredRun<'_> {
    pub(super) fn outcome(&self) -> Outcome {
        if !self.added.is_empty() {
            return Outcome::Unmeasurable;
        }
        self.results.totals.outcome_with(self.cases.iter().map(RescoredCase::state))
    }
}

impl RescoredCase<'_> {
    /// The new state.
    pub(super) fn state(&self) -> State {
        match &self.now {
            Now::Scored(report) => State::of(&report.verdict),
            Now::AsBefore(_) => self.test.state,
            Now::Not(_) => State::Error,
        }
    }

    /// The metrics with their new scores.
    pub(super) fn metrics(&self) -> &[MetricReport] {
        match &self.now {
            Now::Scored(report) => &report.metrics,
            Now::AsBefore(_) => self.test.metrics(),
            Now::Not(_) => &[],
        }
    }

    /// The metrics of the user's own that kept their scores although a built-in metric has the same name.
    pub(super) fn own_under_built_in_names(&self) -> impl Iterator<Item = &str> {
        let own =
            |name: &&String| eval_format::metric::metric(name).is_some() && is_own(self.test.attempt, name);
        self.kept.iter().filter(own).map(String::as_str)
    }

    /// Why the case has its new state.
    pub(super) fn reason(&self) -> Option<&str> {
        match &self.now {
            Now::Scored(report) => report.verdict.reason(),
            Now::AsBefore(reason) | Now::Not(reason) => Some(reason),
        }
    }
}
