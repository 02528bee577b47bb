//! The results of a recorded run.

use eval_core::journal::Head;
use eval_support::untrusted::one_line;

use super::cut_short::cut_short;
use super::freshness::{self, Times};
use super::problems::{Problem, problems};
use super::run::{LoadedRun, Whose};
use super::test::{State, TestResult};
use super::totals::{OverCases, Totals};
use crate::journal::Completeness;
use crate::output::Outcome;
use crate::price::Prices;
use crate::statistics::StatisticsError;

/// The results of a recorded run: of each test, and of all of them.
#[derive(Debug)]
pub struct RunResults<'r> {
    pub loaded: &'r LoadedRun,
    pub tests: Vec<TestResult<'r>>,
    pub totals: Totals,
    /// pass@k and pass^k; `None` if no k was asked for and cases ran once.
    pub over_cases: Option<OverCases>,
    pub times: Times,
    /// The number of missing cases that a program was to run.
    pub of_programs: usize,
    /// Doubts: the run may be another one than is meant, or incomplete.
    pub doubts: Vec<String>,
    /// Problems that keep it from passing, other than verdicts of its cases.
    pub problems: Vec<Problem>,
    /// The prices of tokens; empty if no cost is asked for.
    pub prices: Prices,
}

impl<'r> RunResults<'r> {
    /// Fails if `k` is more than the runs of a case, or zero. `partial` says that tests were left out on purpose.
    pub fn new(loaded: &'r LoadedRun, k: Option<usize>, partial: bool) -> Result<Self, StatisticsError> {
        let mut tests = TestResult::all(&loaded.run);
        for test in &mut tests {
            test.is_in_progress = loaded.is_running && test.state == State::Unfinished;
        }
        let lacks = Completeness::new(&loaded.run);
        let mut doubts = Vec::new();
        if loaded.is_recorded() {
            doubts = freshness::doubts(&loaded.run);
            // A run that was scored again used the sets as they are now.
            doubts.extend(if loaded.added().is_some() { None } else { freshness::edited(&loaded.run) });
        }
        let mut totals = Totals::new(&loaded.run, &tests);
        // `partial` is about tests: a program lists exactly the cases that it runs.
        let of_programs = lacks.of_programs.len();
        let of_tests = lacks.missing() - of_programs;
        totals.missing = of_programs + if partial { 0 } else { of_tests };
        totals.left_out = lacks.left_out + if partial { of_tests } else { 0 };
        totals.is_doubtful = !doubts.is_empty() && !loaded.is_named();
        totals.is_running = loaded.is_running;
        if let Some(Whose { said, is_doubt }) = &loaded.whose {
            totals.is_doubtful |= is_doubt;
            doubts.push(said.clone());
        }
        totals.unlisted = lacks.unlisted.len();
        doubts.extend(lacks.unlisted.iter().map(unlisted));
        totals.unended = loaded.run.unended.len();
        doubts.extend(loaded.run.unended.iter().map(|head| unended(head)));
        totals.lacks_parts = !loaded.missing_parts().is_empty();
        doubts.extend(loaded.missing_parts().iter().cloned());
        totals.added = loaded.added().unwrap_or_default().len();
        doubts.extend(loaded.added().unwrap_or_default().iter().cloned());
        // Only a run that would pass can hide test binaries that were never started.
        if !partial && loaded.is_recorded() && totals.outcome() == Outcome::Passed {
            let doubt = cut_short(&loaded.run, false);
            totals.is_cut_short = doubt.is_some();
            doubts.extend(doubt);
        }
        let over_cases = totals.over_cases(k)?;
        let times = Times::new(&loaded.run);
        let problems = problems(loaded, &totals, &doubts, &lacks, partial);
        Ok(Self {
            loaded,
            tests,
            totals,
            over_cases,
            times,
            of_programs,
            doubts,
            problems,
            prices: Prices::default(),
        })
    }

    /// The reason why test binaries may not have been started, also for a run that did not pass.
    pub fn cut_short(&self) -> Option<String> {
        cut_short(&self.loaded.run, self.totals.missing > self.of_programs)
    }

    /// A line for each thing that keeps the run from passing: tests that failed or have no verdict, and problems.
    pub fn left_over(&self) -> Vec<String> {
        let tests = self.needing_attention().map(|test| {
            let first = test.test.attempts.iter().map(|attempt| attempt.started.attempt).min();
            let is_first = test.test.attempts.iter().all(|it| Some(it.started.attempt) == first);
            let again = if is_first { "" } else { ", again" };
            format!("{} ({}{again})", one_line(&test.name), test.state.name())
        });
        tests.chain(self.problems.iter().map(Problem::shown)).collect()
    }

    /// The tests that failed or have no verdict, in order.
    pub fn needing_attention(&self) -> impl Iterator<Item = &TestResult<'r>> {
        self.tests.iter().filter(|test| test.needs_attention())
    }
}

/// The doubt about a binary whose tests the journal does not list.
fn unlisted((package, binary): &(Option<String>, Option<String>)) -> String {
    let name = binary
        .as_ref()
        .map_or_else(|| "a test binary".to_owned(), |name| format!("the test binary `{}`", one_line(name)));
    let of =
        package.as_ref().map(|package| format!(" of package `{}`", one_line(package))).unwrap_or_default();
    format!(
        "what {name}{of} was to run is not recorded: its process was killed before, or could not read it; run its tests again"
    )
}

/// The doubt about a process that may have been killed between two calls of its runner.
fn unended(head: &Head) -> String {
    let name = head.binary.as_deref().unwrap_or("a program");
    let name =
        head.package.as_deref().map_or_else(|| name.to_owned(), |package| format!("{package}::{name}"));
    format!(
        "process {} (`{}`) was killed or is still running: which cases its hand-written tests were to run next is not recorded; \
         run them again",
        head.pid,
        one_line(&name)
    )
}
