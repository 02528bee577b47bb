//! The result of scoring a run again.

use eval_core::report::CaseReport;
use eval_report::document::Rescored;
use eval_report::journal::RecordedTest;

use super::recorded_scores::is_own;
use crate::recorded::{RunResults, TestResult};

/// A run, and the same run with new scores.
#[derive(Debug)]
pub(super) struct RescoredRun<'r> {
    pub(super) now: &'r RunResults<'r>,
    /// The cases of `now`, in their order.
    pub(super) cases: &'r [RescoredCase<'r>],
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

impl<'r> RescoredRun<'r> {
    /// Each case as it was recorded, and as it is now.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&'r RescoredCase<'r>, &'r TestResult<'r>)> {
        self.cases.iter().zip(&self.now.tests)
    }
}

impl RescoredCase<'_> {
    /// The test with its new scores.
    pub(super) fn rescored(&self) -> RecordedTest {
        self.test.test.with_last(|attempt| match &self.now {
            Now::Scored(report) => attempt.rescore(report),
            Now::AsBefore(why) => {
                if let Some(decided) = &mut attempt.decided {
                    decided.headline = Some(why.clone());
                }
            }
            Now::Not(why) => attempt.fail_to_rescore(why),
        })
    }

    /// The case for the document.
    pub(super) fn entry(&self) -> Rescored<'_> {
        let is_scored = matches!(self.now, Now::Scored(_));
        Rescored { before: &self.test, is_scored, is_edited: self.is_edited, kept: &self.kept }
    }

    /// The metrics of the user's own that kept their scores although a built-in metric has the same name.
    pub(super) fn own_under_built_in_names(&self) -> impl Iterator<Item = &str> {
        let own =
            |name: &&String| eval_format::metric::metric(name).is_some() && is_own(self.test.attempt, name);
        self.kept.iter().filter(own).map(String::as_str)
    }
}
