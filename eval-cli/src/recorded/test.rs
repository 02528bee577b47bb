//! A test of a recorded run.

use std::fmt;
use std::time::Duration;

use eval_core::journal::{Attempt, RecordedRun, RecordedTest};
use eval_core::report::{MetricReport, Role, Verdict};
use serde::Serialize;

use super::counts::RunCounts;
use super::state::State;
use super::usage::Usage;
use crate::output::words::count;

/// A test of a run, with the result of its last attempt.
#[derive(Debug)]
pub(crate) struct TestResult<'r> {
    pub(crate) test: &'r RecordedTest,
    /// The last attempt.
    pub(crate) attempt: &'r Attempt,
    pub(crate) state: State,
    pub(crate) runs: RunCounts,
}

/// Where a case stands in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CaseLocation<'r> {
    pub(crate) file: &'r str,
    /// From 1.
    pub(crate) line: usize,
    /// In characters, from 1.
    pub(crate) column: usize,
}

impl fmt::Display for CaseLocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What a test runner that retries did before the attempt that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retry {
    /// Earlier attempts that did not pass, at least one.
    pub(crate) failed: usize,
    /// The number of the attempt that counts, from 1.
    pub(crate) attempt: usize,
}

impl<'r> TestResult<'r> {
    /// The tests of a run: attribute by attribute, and in the order of the file below that.
    pub(crate) fn all(run: &'r RecordedRun) -> Vec<Self> {
        let mut all: Vec<Self> = run.tests.iter().filter_map(Self::of).collect();
        all.sort_by(|one, other| one.module().cmp(&other.module()));
        all
    }

    fn of(test: &'r RecordedTest) -> Option<Self> {
        let attempt = test.last()?;
        let state = attempt.decided.as_ref().map_or(State::Unfinished, |decided| State::of(&decided.verdict));
        Some(Self { test, attempt, state, runs: RunCounts::of(attempt) })
    }

    /// The package, the binary and the module of the test. The tests of an attribute have these in common.
    pub(super) fn module(&self) -> (&'r str, &'r str, &'r str) {
        let RecordedTest { package, binary, name, .. } = self.test;
        let module = name.rsplit_once("::").map_or("", |(module, _)| module);
        (package.as_deref().unwrap_or_default(), binary.as_deref().unwrap_or_default(), module)
    }

    /// Why the test has its state, in one line; `None` if there is nothing to say.
    pub(crate) fn reason(&self) -> Option<String> {
        let Some(decided) = &self.attempt.decided else {
            let RunCounts { total, ran, .. } = self.runs;
            let pid = self.attempt.head.pid;
            return Some(format!(
                "no verdict: {ran} of {} ended; process {pid} was killed or is still running",
                count(total, "run")
            ));
        };
        let first = decided.failure.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
        let first = first.strip_prefix("Error: ").unwrap_or(first);
        let first = first.strip_prefix(&format!("{}: ", self.test.name)).unwrap_or(first);
        let reason = if first.is_empty() { decided.verdict.reason()?.lines().next()? } else { first };
        Some(reason.to_owned()).filter(|reason| !reason.is_empty())
    }

    /// Whether the test failed or has no verdict.
    pub(crate) fn needs_attention(&self) -> bool {
        self.state == State::Failed || self.state.is_unmeasured()
    }

    /// What failed, if the state is an error.
    pub(crate) fn role(&self) -> Option<Role> {
        match self.attempt.decided.as_ref()?.verdict {
            Verdict::Error { role, .. } => Some(role),
            _ => None,
        }
    }

    /// The metrics, informational ones too.
    pub(crate) fn metrics(&self) -> &'r [MetricReport] {
        self.attempt.decided.as_ref().map(|decided| decided.metrics.as_slice()).unwrap_or_default()
    }

    /// The metrics that can fail a case.
    pub(crate) fn gating(&self) -> impl Iterator<Item = &'r MetricReport> {
        self.metrics().iter().filter(|metric| metric.criterion.is_some())
    }

    /// How long its turns took.
    pub(crate) fn elapsed(&self) -> Duration {
        self.attempt.decided.as_ref().map(|decided| decided.elapsed).unwrap_or_default()
    }

    /// The attempts before this one; `None` if none of them failed. A runner that retries until a test passes hides that
    /// it failed.
    pub(crate) fn retry(&self) -> Option<Retry> {
        let (last, before) = self.test.attempts.split_last()?;
        let passed = |attempt: &Attempt| attempt.decided.as_ref().is_some_and(|it| it.verdict.passed());
        // Earlier attempts count even if another folder recorded them.
        let numbered = usize::try_from(last.started.attempt).unwrap_or(usize::MAX).saturating_sub(1);
        let failed = before.iter().filter(|attempt| !passed(attempt)).count();
        let failed = failed.max(numbered.saturating_sub(before.len()));
        (failed > 0).then(|| Retry { failed, attempt: before.len().max(numbered).saturating_add(1) })
    }

    /// Where the case stands; `None` if it comes from no file.
    pub(crate) fn location(&self) -> Option<CaseLocation<'r>> {
        let started = &self.attempt.started;
        Some(CaseLocation { file: started.file.as_deref()?, line: started.line?, column: started.column? })
    }

    /// What the agent and the judges used.
    pub(crate) fn usage(&self) -> Usage {
        Usage::of(self.attempt)
    }
}
