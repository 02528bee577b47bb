//! The results of a recorded run.

use std::collections::BTreeSet;
use std::time::SystemTime;

use eval_core::Verdict;
use eval_core::journal::Head;
use eval_format::tags::TagSelection;
use eval_support::untrusted::one_line;
use eval_support::words::short_code_list;

use super::freshness::{self, Times};
use super::problems::{Problem, problems};
use super::run::{LoadedRun, Whose};
use super::test::{State, TestResult};
use super::totals::{PassEstimates, Totals};
use crate::cargo::{Targets, TestBinary};
use crate::journal::{Asked, Attempt, Completeness, RecordedRun};
use crate::output::Outcome;
use crate::price::Prices;
use crate::statistics::StatisticsError;

#[derive(Debug)]
pub struct RunResults<'r> {
    pub loaded: &'r LoadedRun,
    pub tests: Vec<TestResult<'r>>,
    pub totals: Totals,
    /// pass@k and pass^k; `None` if no k was asked for and cases ran once.
    pub over_cases: Option<PassEstimates>,
    pub times: Times,
    /// The number of missing cases that a program was to run.
    pub of_programs: usize,
    /// Doubts: the run may be another one than is meant, or incomplete.
    pub doubts: Vec<String>,
    /// Problems that keep it from passing, other than verdicts of its cases.
    pub problems: Vec<Problem>,
    pub prices: Prices,
    /// Whether tests were left out on purpose.
    pub(super) is_partial: bool,
}

impl<'r> RunResults<'r> {
    /// Fails if `k` is more than the runs of a case, or zero. `partial` says that tests were left out on purpose.
    pub fn new(loaded: &'r LoadedRun, k: Option<usize>, partial: bool) -> Result<Self, StatisticsError> {
        Self::of_tags(loaded, k, partial, &TagSelection::default())
    }

    /// The results of the cases that the tags take. Tests that never began recorded no tags, so they count whatever the tags
    /// are.
    pub fn of_tags(
        loaded: &'r LoadedRun,
        k: Option<usize>,
        partial: bool,
        tags: &TagSelection,
    ) -> Result<Self, StatisticsError> {
        let mut tests = TestResult::all(&loaded.run);
        let all = tests.len();
        tests.retain(|test| tags.takes(&test.attempt.started.tags));
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
        totals.not_selected = all - tests.len();
        totals.is_doubtful = !doubts.is_empty() && !loaded.is_named;
        totals.is_running = loaded.is_running;
        if let Some(Whose { said, is_doubt }) = &loaded.whose {
            totals.is_doubtful |= is_doubt;
            doubts.push(said.clone());
        }
        totals.unlisted = lacks.unlisted.len();
        doubts.extend(lacks.unlisted.iter().map(unlisted));
        totals.unended = loaded.run.unended.len();
        doubts.extend(loaded.run.unended.iter().map(|head| unended(head)));
        totals.lacks_parts = !loaded.run.missing_parts.is_empty();
        doubts.extend(loaded.run.missing_parts.iter().cloned());
        let added = loaded.added().unwrap_or_default();
        totals.added = added.len();
        doubts.extend(added.iter().cloned());
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
            is_partial: partial,
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

    pub fn needing_attention(&self) -> impl Iterator<Item = &TestResult<'r>> {
        self.tests.iter().filter(|test| test.needs_attention())
    }
}

/// The reasons why the last run may be of another build or another job than this one; none for a run that was named. An edited set
/// is no such reason: it is a doubt about its own cases.
pub fn doubts_about_build(loaded: &LoadedRun) -> Vec<String> {
    let mut doubts = loaded.run.missing_parts.clone();
    if !loaded.is_named && loaded.is_recorded() {
        doubts.extend(freshness::doubts(&loaded.run));
    }
    doubts.extend(loaded.whose.iter().filter(|whose| whose.is_doubt).map(|whose| whose.said.clone()));
    doubts
}

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

/// The doubt about a run that ended at a test that did not pass: cargo may not have started all test binaries. `None`
/// if there is no such doubt. `never_began` says that listed tests did not begin.
///
/// After a failure `cargo test` starts no further binary, and nextest no further test. The exit code of the
/// runner shows that failure. Once a rerun passes, no record shows that binaries were never started.
/// [`Completeness`] names the binaries that the journal knows and that were not started. This function covers
/// binaries of other packages, and systems that hide the command line of the runner.
fn cut_short(run: &RecordedRun, never_began: bool) -> Option<String> {
    let is_first = |head: &Head| !head.is_rerun();
    let first: Vec<&Head> = run.processes.iter().map(|head| &**head).filter(|head| is_first(head)).collect();
    let did_not_pass = |attempt: &&Attempt| {
        let verdict = attempt.decided.as_ref().map(|decided| &decided.verdict);
        !matches!(verdict, Some(Verdict::Passed | Verdict::Skipped(_)))
    };
    // A test that failed and then passed in the runner's own retry does not end the runner.
    let last = run.tests.iter().filter_map(|test| test.attempts.iter().rfind(|it| is_first(&it.head)));
    let attempts = last.filter(did_not_pass);
    // A test that was killed or never began has no end: its `None` sorts before all others.
    let ends = attempts.map(|attempt| attempt.decided.as_ref().map(|decided| decided.at));
    let ended: Option<SystemTime> = ends.chain(never_began.then_some(None)).min()?;
    let began = first.iter().map(|head| head.started).max();
    if ended.is_some_and(|ended| began.is_some_and(|last| last > ended)) {
        return None;
    }
    let asked: Vec<Option<Asked<'_>>> = first.iter().map(|head| Asked::from_head(head)).collect();
    let names: Vec<&str> = run.processes.iter().filter_map(|head| head.binary.as_deref()).collect();
    let is_all = |asked: &Asked<'_>| asked.goes_on && ended.is_some() || asked.is_within(&names);
    if asked.iter().all(|asked| asked.as_ref().is_some_and(is_all)) {
        return None;
    }
    let started: BTreeSet<TestBinary<'_>> = run
        .processes
        .iter()
        .filter_map(|head| {
            Some(TestBinary { package: head.package.as_deref()?, name: head.binary.as_deref() })
        })
        .collect();
    let was_asked = |(package, name): &(&str, &str)| {
        asked.iter().any(|asked| asked.as_ref().is_none_or(|asked| asked.has_of(package, name)))
    };
    let targets = Targets::here();
    let others =
        targets.others(&started).map(|others| others.into_iter().filter(was_asked).collect::<Vec<_>>());
    let which = match others {
        Some(others) if others.is_empty() => return None,
        Some(others) => {
            let names: Vec<String> =
                others.iter().map(|(package, name)| one_line(&format!("{package}::{name}"))).collect();
            format!(": {}", short_code_list(&names))
        }
        None => String::new(),
    };
    Some(format!(
        "the run ended at what did not pass, and test binaries that cargo did not start leave no record{which}; `--no-fail-fast` \
         starts them all (`cargo test --no-fail-fast`), and `--partial` says that none was left out"
    ))
}
