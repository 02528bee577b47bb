//! The results of a recorded run.

use eval_core::statistics::StatisticsError;

use super::run::LoadedRun;
use super::test::TestResult;
use super::totals::{OverCases, Totals};

/// The results of a recorded run: of each test, and of all of them.
#[derive(Debug)]
pub(crate) struct RunResults<'r> {
    pub(crate) loaded: &'r LoadedRun,
    pub(crate) tests: Vec<TestResult<'r>>,
    pub(crate) totals: Totals,
    /// pass@k and pass^k; `None` if no k was asked for and cases ran once.
    pub(crate) over_cases: Option<OverCases>,
}

impl<'r> RunResults<'r> {
    /// Fails if `k` is more than the runs of a case, or zero.
    pub(crate) fn of(loaded: &'r LoadedRun, k: Option<usize>) -> Result<Self, StatisticsError> {
        let tests = TestResult::all(&loaded.run);
        let totals = Totals::of(&loaded.run, &tests);
        let over_cases = totals.over_cases(k)?;
        Ok(Self { loaded, tests, totals, over_cases })
    }

    /// The tests that failed or have no verdict, in order.
    pub(crate) fn needing_attention(&self) -> impl Iterator<Item = &TestResult<'r>> {
        self.tests.iter().filter(|test| test.needs_attention())
    }
}
