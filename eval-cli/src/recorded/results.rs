//! The results of a recorded run.

use eval_core::__private::{Completeness, Prices};
use eval_core::statistics::StatisticsError;

use super::currency::{self, Times};
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
    pub(crate) times: Times,
    /// How many of the missing cases a program was to run.
    pub(crate) of_programs: usize,
    /// Why the run may be another one than is meant, or is not all of it.
    pub(crate) doubts: Vec<String>,
    /// The prices of tokens, if somebody asks what the run cost at these.
    pub(crate) prices: Prices,
}

impl<'r> RunResults<'r> {
    /// Fails if `k` is more than the runs of a case, or zero. `partial` says that tests were left out on purpose.
    pub(crate) fn of(
        loaded: &'r LoadedRun,
        k: Option<usize>,
        partial: bool,
    ) -> Result<Self, StatisticsError> {
        let tests = TestResult::all(&loaded.run);
        let lacks = Completeness::of(&loaded.run);
        let mut doubts = currency::doubts(&loaded.run);
        let mut totals = Totals::of(&loaded.run, &tests);
        // What a program was to run, it says itself.
        let of_tests = lacks.missing() - lacks.of_programs;
        totals.missing = lacks.of_programs + if partial { 0 } else { of_tests };
        totals.left_out = lacks.left_out + if partial { of_tests } else { 0 };
        totals.is_doubtful = !doubts.is_empty() && !loaded.is_named();
        totals.lacks_parts = !loaded.missing_parts().is_empty();
        doubts.extend(loaded.missing_parts().iter().cloned());
        let over_cases = totals.over_cases(k)?;
        let (times, of_programs) = (Times::of(&loaded.run), lacks.of_programs);
        Ok(Self { loaded, tests, totals, over_cases, times, of_programs, doubts, prices: Prices::default() })
    }

    /// The tests that failed or have no verdict, in order.
    pub(crate) fn needing_attention(&self) -> impl Iterator<Item = &TestResult<'r>> {
        self.tests.iter().filter(|test| test.needs_attention())
    }
}
