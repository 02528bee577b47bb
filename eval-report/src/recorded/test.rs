//! A test of a recorded run.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use anstyle::Style;
use eval_core::journal::Decided;
use eval_core::report::{MetricReport, Role, Verdict, asks_for_a_recording};
use eval_support::untrusted;
use eval_support::words::count;
use serde::Serialize;

use super::usage::RunUsage;
use crate::journal::{Attempt, RecordedRun, RecordedTest};
use crate::output::{ERROR, GOOD, WARNING};
use crate::statistics::PassCount;

/// A test of a run, with the result of its last attempt.
#[derive(Debug)]
pub struct TestResult<'r> {
    pub test: &'r RecordedTest,
    /// Its name in reports: no other test has this name in its binary.
    pub name: Cow<'r, str>,
    pub attempt: &'r Attempt,
    pub state: State,
    pub runs: RunCounts,
    /// Whether the test run is in progress, so that the test may still get a verdict.
    pub is_in_progress: bool,
}

/// The fault of a test in one line; `None` without a fault.
pub fn headline(decided: &Decided) -> Option<Cow<'_, str>> {
    let recorded = decided.headline.as_deref().map(Cow::Borrowed);
    let of_verdict = || decided.verdict.reason().map(untrusted::headline);
    let is_said = |text: &Cow<'_, str>| !text.is_empty();
    recorded.filter(is_said).or_else(of_verdict).filter(is_said)
}

/// Adds the file of the set or a number to equal names of tests: a program can run a case several times.
fn tell_apart(tests: &mut [TestResult<'_>]) {
    // Few names are equal, and a map of all names would take more memory than the names.
    let hasher = RandomState::new();
    let hashes: Vec<u64> = tests.iter().map(|test| hasher.hash_one(test.key())).collect();
    let mut seen = HashSet::with_capacity(tests.len());
    let repeated: HashSet<u64> = hashes.iter().copied().filter(|hash| !seen.insert(*hash)).collect();
    let mut alike: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, test) in tests.iter().enumerate().filter(|(at, _)| repeated.contains(&hashes[*at])) {
        alike.entry(test.key()).or_default().push(at);
    }
    for alike in alike.into_values().filter(|alike| alike.len() > 1) {
        let files: HashSet<_> = alike.iter().map(|at| tests[*at].attempt.started.file.as_deref()).collect();
        let by_file = files.len() == alike.len() && !files.contains(&None);
        for (number, at) in (1..).zip(alike) {
            let test = &mut tests[at];
            match test.attempt.started.file.as_deref().filter(|_| by_file) {
                Some(file) => test.name.to_mut().push_str(&format!(" ({file})")),
                None => test.name.to_mut().push_str(&format!(" #{number}")),
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CaseLocation<'r> {
    pub file: &'r str,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl fmt::Display for CaseLocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The attempts of a test runner with retries, if one before the last did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Earlier attempts that did not pass, at least one.
    pub failed: usize,
    /// The number of the attempt that counts, from 1.
    pub attempt: usize,
}

impl<'r> TestResult<'r> {
    /// The tests of a run, by attribute, and for each attribute in the order of the file.
    pub fn all(run: &'r RecordedRun) -> Vec<Self> {
        let mut all: Vec<Self> = run.tests.iter().filter_map(Self::new).collect();
        all.sort_by(|one, other| one.module().cmp(&other.module()));
        tell_apart(&mut all);
        all
    }

    fn new(test: &'r RecordedTest) -> Option<Self> {
        let attempt = test.last()?;
        let state = State::of_attempt(attempt);
        // The name of a test has the values of its variant as modules.
        let name = match &attempt.started.label {
            Some(label) if attempt.started.of_program => Cow::Owned(format!("{} [{label}]", test.name())),
            _ => Cow::Borrowed(test.name()),
        };
        Some(Self { test, name, attempt, state, runs: RunCounts::new(attempt), is_in_progress: false })
    }

    /// The same test with its first attempt that has a verdict on the case, or in which a run failed, in place of the last one. A
    /// runner that retries until a test passes would hide how often it does not. Of several starts with one number, the worst
    /// counts, as in reports.
    pub(crate) fn first_with_verdict(&self) -> Self {
        let attempts = &self.test.attempts;
        let is_last_of_number = |at: usize| {
            attempts.get(at + 1).is_none_or(|next| next.started.attempt != attempts[at].started.attempt)
        };
        // An error of one run takes nothing back of what the others showed.
        let has_failed_run = |attempt: &Attempt| {
            let RunCounts { judged, passed, .. } = RunCounts::new(attempt);
            attempt.decided.is_some() && judged > passed
        };
        let has_verdict = |attempt: &Attempt| {
            matches!(State::of_attempt(attempt), State::Passed | State::Failed) || has_failed_run(attempt)
        };
        let first = attempts.iter().enumerate().find(|(at, it)| is_last_of_number(*at) && has_verdict(it));
        let attempt = first.map_or(self.attempt, |(_, attempt)| attempt);
        Self {
            test: self.test,
            name: self.name.clone(),
            attempt,
            state: State::of_attempt(attempt),
            runs: RunCounts::new(attempt),
            is_in_progress: self.is_in_progress,
        }
    }

    /// The package, the binary and the module of the test. The tests of an attribute have these in common.
    pub(super) fn module(&self) -> (Option<&'r str>, Option<&'r str>, Option<&'r str>) {
        let module = self.test.name().rsplit_once("::").map(|(module, _)| module);
        (self.test.package(), self.test.binary(), module)
    }

    fn key(&self) -> (Option<&'r str>, Option<&'r str>, &'r str, Option<&'r str>) {
        let label = self.attempt.started.label.as_deref();
        (self.test.package(), self.test.binary(), self.test.name(), label)
    }

    /// The reason for the test's state, in one line; `None` if the state says it all.
    pub fn reason(&self) -> Option<String> {
        let Some(decided) = &self.attempt.decided else {
            let (ran, runs) = (self.runs.ran, count(self.runs.total, "run"));
            if self.is_in_progress {
                return Some(format!("no verdict yet: {ran} of {runs} ended"));
            }
            let pid = self.attempt.head.pid;
            if pid == std::process::id() {
                return Some("interrupted before it had a verdict".to_owned());
            }
            let end = format!("process {pid} was killed or is still running");
            return Some(format!("no verdict: {ran} of {runs} ended; {end}"));
        };
        headline(decided).map(Cow::into_owned)
    }

    /// The metrics that could have failed the case and were skipped.
    pub fn skipped_metrics(&self) -> impl Iterator<Item = &'r MetricReport> {
        self.deciding().filter(|metric| matches!(metric.verdict, Verdict::Skipped(_)))
    }

    /// Whether the test failed or has no verdict, and gets none any more.
    pub fn needs_attention(&self) -> bool {
        self.state == State::Failed || self.state.is_unmeasured() && !self.is_in_progress
    }

    /// Whether the test needs a recording of its judge's missing answers, and another run does not help.
    pub fn asks_for_a_recording(&self) -> bool {
        self.attempt.decided.as_ref().is_some_and(|decided| asks_for_a_recording(&decided.verdict))
    }

    pub fn role(&self) -> Option<Role> {
        match self.attempt.decided.as_ref()?.verdict {
            Verdict::Error { role, .. } => Some(role),
            _ => None,
        }
    }

    /// The metrics, informational ones too.
    pub fn metrics(&self) -> &'r [MetricReport] {
        self.attempt.decided.as_ref().map(|decided| decided.metrics.as_slice()).unwrap_or_default()
    }

    /// The metrics that can fail a case.
    pub fn deciding(&self) -> impl Iterator<Item = &'r MetricReport> {
        self.metrics().iter().filter(|metric| metric.criterion.is_some())
    }

    /// The number of repetitions of a run whose agent was not reached.
    pub fn repeated(&self) -> usize {
        self.attempt.decided.as_ref().map(|decided| decided.repeated).unwrap_or_default()
    }

    /// The duration of its turns.
    pub fn elapsed(&self) -> Duration {
        self.attempt.decided.as_ref().map(|decided| decided.elapsed).unwrap_or_default()
    }

    /// The retries of the test; `None` if no attempt before the last one failed. A runner that retries until
    /// a test passes hides that it failed.
    pub fn retry(&self) -> Option<Retry> {
        let (last, before) = self.test.attempts.split_last()?;
        let passed = |attempt: &Attempt| attempt.decided.as_ref().is_some_and(|it| it.verdict.passed());
        // Earlier attempts count even if another folder recorded them.
        let numbered = usize::try_from(last.started.attempt).unwrap_or(usize::MAX).saturating_sub(1);
        let failed = before.iter().filter(|attempt| !passed(attempt)).count();
        let failed = failed.max(numbered.saturating_sub(before.len()));
        (failed > 0).then(|| Retry { failed, attempt: before.len().max(numbered).saturating_add(1) })
    }

    /// The attempts before the last one, which counts.
    pub fn earlier(&self) -> &'r [Attempt] {
        self.test.attempts.split_last().map(|(_, before)| before).unwrap_or_default()
    }

    pub fn location(&self) -> Option<CaseLocation<'r>> {
        let started = &self.attempt.started;
        Some(CaseLocation { file: started.file.as_deref()?, line: started.line?, column: started.column? })
    }

    pub fn usage(&self) -> RunUsage {
        RunUsage::new(self.attempt)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunCounts {
    /// Planned runs, or the runs that ended if these are more.
    pub total: usize,
    pub ran: usize,
    /// Runs with a verdict of their own: every metric that decides has a score for every turn.
    #[serde(rename = "with_verdict")]
    pub judged: usize,
    pub passed: usize,
}

impl RunCounts {
    pub(super) fn new(attempt: &Attempt) -> Self {
        // A run with several evaluations passes if each evaluation does.
        let mut runs: BTreeMap<usize, Option<bool>> = BTreeMap::new();
        for evaluation in &attempt.evaluations {
            let passed = evaluation.passed;
            let of_run = runs.entry(evaluation.ran.run).or_insert(passed);
            *of_run = of_run.zip(passed).map(|(one, other)| one && other);
        }
        let verdicts = || runs.values().copied().flatten();
        let ran = runs.len();
        // In earlier versions a test body could pass without evaluating the case.
        let planned = if ran == 0 && attempt.decided.is_some() { 0 } else { attempt.started.runs };
        Self {
            total: planned.max(ran),
            ran,
            judged: verdicts().count(),
            passed: verdicts().filter(|passed| *passed).count(),
        }
    }

    /// Passed runs of all runs. A run without a verdict did not pass.
    pub fn tally(self) -> PassCount {
        PassCount::new(self.passed, self.total).unwrap_or_default()
    }

    pub fn are_flaky(self) -> bool {
        PassCount::new(self.passed, self.judged).is_ok_and(PassCount::is_flaky)
    }
}

/// The state of a test: its verdict, or that it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Passed,
    Failed,
    NotEvaluated,
    Error,
    Skipped,
    /// Its process was killed or is still running.
    Unfinished,
}

impl State {
    pub(crate) fn of_attempt(attempt: &Attempt) -> Self {
        attempt.decided.as_ref().map_or(Self::Unfinished, |decided| Self::from_verdict(&decided.verdict))
    }

    pub fn from_verdict(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::Passed,
            Verdict::Failed => Self::Failed,
            Verdict::Skipped(_) => Self::Skipped,
            Verdict::Error { .. } => Self::Error,
            _ => Self::NotEvaluated,
        }
    }

    /// Whether the test is without a verdict on the case: it neither passed nor failed, and was not skipped.
    pub fn is_unmeasured(self) -> bool {
        matches!(self, Self::NotEvaluated | Self::Error | Self::Unfinished)
    }

    /// The state in one word, the word for it in a table, and its style there.
    fn words(self) -> (&'static str, &'static str, Style) {
        match self {
            Self::Passed => ("passed", "PASS", GOOD),
            Self::Failed => ("failed", "FAIL", ERROR),
            Self::NotEvaluated => ("not_evaluated", "UNSCORED", ERROR),
            Self::Error => ("error", "ERROR", ERROR),
            Self::Skipped => ("skipped", "SKIP", WARNING),
            Self::Unfinished => ("unfinished", "UNFINISHED", ERROR),
        }
    }

    /// The word for the state in a table, and its style.
    pub fn label(self) -> (&'static str, Style) {
        let (_, word, style) = self.words();
        (word, style)
    }

    /// The word of its verdict, if it has one.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// The name of the state on the page, for people and for its filters.
    pub fn filter_name(self) -> &'static str {
        if self == Self::NotEvaluated { "unscored" } else { self.name() }
    }

    /// The state in a count of cases: `2 errors`.
    pub fn counted(self, number: usize) -> &'static str {
        if self == Self::Error && number != 1 { "errors" } else { self.filter_name() }
    }
}
