//! Totals over all tests of a run.

use std::time::{Duration, SystemTime};

use eval_core::journal::RecordedRun;
use eval_core::statistics::{StatisticsError, Tally};

use super::state::State;
use super::test::TestResult;
use super::usage::Usage;
use crate::output::Outcome;
use crate::output::words::count;

/// Counts of cases and runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) cases: usize,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) not_evaluated: usize,
    pub(crate) errors: usize,
    pub(crate) skipped: usize,
    pub(crate) unfinished: usize,
    /// Cases of which some runs passed and others did not, whatever their verdict.
    pub(crate) flaky: usize,
    /// Cases that were decided without a metric that was skipped.
    pub(crate) partly_skipped: usize,
    /// Cases that passed only when the test runner tried again.
    pub(crate) retried: usize,
    /// Runs of all cases.
    pub(crate) runs: usize,
    /// Runs with a verdict.
    pub(crate) judged: usize,
    pub(crate) usage: Usage,
    /// From the start of the first test to the end of the last.
    pub(crate) elapsed: Duration,
    /// Lines of the journal that cannot be read.
    pub(crate) unreadable: usize,
    /// Tests that began and of which nothing else is known.
    pub(crate) lost: usize,
    /// Tests that were to run and never began.
    pub(crate) missing: usize,
    /// Tests that were left out on purpose.
    pub(crate) left_out: usize,
    /// Whether the run may be another one than is meant.
    pub(crate) is_doubtful: bool,
    /// Whether a part of the run has not come to where it was read.
    pub(crate) lacks_parts: bool,
    /// The runs of each case of which every run has a verdict.
    tallies: Vec<Tally>,
}

/// pass@k and pass^k, as means over the cases that they can be estimated for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OverCases {
    pub(crate) k: usize,
    pub(crate) pass_at: f64,
    pub(crate) pass_all: f64,
    pub(crate) cases: usize,
}

impl Totals {
    pub(super) fn of(run: &RecordedRun, tests: &[TestResult<'_>]) -> Self {
        let mut totals = Self {
            cases: tests.len(),
            unreadable: run.unreadable.len(),
            lost: run.lost,
            elapsed: span(tests),
            ..Self::default()
        };
        for test in tests {
            let counted = match test.state {
                State::Passed => &mut totals.passed,
                State::Failed => &mut totals.failed,
                State::NotEvaluated => &mut totals.not_evaluated,
                State::Error => &mut totals.errors,
                State::Skipped => &mut totals.skipped,
                State::Unfinished => &mut totals.unfinished,
            };
            *counted += 1;
            let is_partial = test.state != State::Skipped && test.skipped_metrics().next().is_some();
            totals.partly_skipped += usize::from(is_partial);
            totals.flaky += usize::from(test.runs.are_flaky());
            totals.retried += usize::from(test.state == State::Passed && test.retry().is_some());
            totals.runs += test.runs.total;
            totals.judged += test.runs.judged;
            totals.usage.add(test.usage());
            if test.runs.total > 0 && test.runs.judged == test.runs.total {
                totals.tallies.push(test.runs.tally());
            }
        }
        totals
    }

    /// Cases that passed, of all that were not skipped.
    pub(crate) fn tally(&self) -> Tally {
        Tally::new(self.passed, self.cases - self.skipped).unwrap_or_default()
    }

    /// `Unmeasurable` if anything has no verdict, else `Failed` if anything failed. A missing verdict is worse than a
    /// failure, since it may stand for any verdict.
    pub(crate) fn outcome(&self) -> Outcome {
        let unmeasured =
            self.not_evaluated + self.errors + self.unfinished + self.unreadable + self.lost + self.missing;
        if unmeasured > 0 || self.is_doubtful || self.lacks_parts || self.passed + self.failed == 0 {
            Outcome::Unmeasurable
        } else if self.failed > 0 {
            Outcome::Failed
        } else {
            Outcome::Passed
        }
    }

    /// The counts that explain the outcome, and how many cases it does not cover.
    pub(crate) fn reason(&self) -> String {
        let mut reason = self.reason_of_recorded();
        if self.missing > 0 {
            reason.push_str(&format!("; {} never began", count(self.missing, "more test")));
        }
        if self.left_out > 0 {
            let were = if self.left_out == 1 { "was" } else { "were" };
            reason.push_str(&format!("; {} {were} left out on purpose", count(self.left_out, "more test")));
        }
        if self.lacks_parts {
            reason.push_str("; a part of the run is missing");
        }
        if self.is_doubtful {
            reason.push_str("; the run may be another one than is meant");
        }
        reason
    }

    fn reason_of_recorded(&self) -> String {
        let mut reasons = Vec::new();
        let mut add = |number: usize, what: &str| {
            if number > 0 {
                reasons.push(format!("{number} {what}"));
            }
        };
        add(self.failed, "failed");
        add(self.errors, "with errors");
        add(self.not_evaluated, "not evaluated");
        add(self.unfinished, "unfinished");
        let cases = count(self.cases, "case");
        if self.unreadable > 0 {
            let lines = count(self.unreadable, "line");
            reasons.push(format!("{lines} of the journal cannot be read"));
        }
        match self.lost {
            0 => {}
            1 => reasons.push("1 more test began, and its record is incomplete".to_owned()),
            lost => reasons.push(format!("{lost} more tests began, and their records are incomplete")),
        }
        match (reasons.is_empty(), self.cases, self.passed) {
            (false, ..) => format!("of {cases}: {}", reasons.join(", ")),
            (true, 0, _) => "no case ran".to_owned(),
            (true, _, 0) => format!("of {cases}: all skipped, so nothing was checked"),
            (true, ..) if self.skipped > 0 => {
                format!("of {cases}: {} passed, {} skipped", self.passed, self.skipped)
            }
            (true, 1, _) => "the one case passed".to_owned(),
            (true, ..) => format!("all {cases} passed"),
        }
    }

    /// pass@k and pass^k, as means over the cases of which every run has a verdict. Without a `k`, the least number of
    /// runs of these cases is taken; `None` if that is 1.
    ///
    /// Fails if a case has fewer than `k` runs: nothing can be estimated for it.
    pub(super) fn over_cases(&self, k: Option<usize>) -> Result<Option<OverCases>, StatisticsError> {
        let fewest = self.tallies.iter().map(|tally| tally.total()).min();
        let Some(k) = k.or(fewest.filter(|runs| *runs > 1)) else { return Ok(None) };
        let (mut pass_at, mut pass_all) = (0.0, 0.0);
        for tally in &self.tallies {
            pass_at += tally.pass_at(k)?;
            pass_all += tally.pass_all(k)?;
        }
        let cases = self.tallies.len();
        #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^53")]
        let n = cases as f64;
        Ok((cases > 0).then(|| OverCases { k, pass_at: pass_at / n, pass_all: pass_all / n, cases }))
    }
}

fn span(tests: &[TestResult<'_>]) -> Duration {
    let attempts = || tests.iter().flat_map(|test| &test.test.attempts);
    let begun = attempts().map(|attempt| attempt.started.at).min();
    let ended = attempts().filter_map(|attempt| attempt.decided.as_ref()).map(|decided| decided.at).max();
    let (Some(begun), Some(ended)) = (begun, ended) else { return Duration::ZERO };
    SystemTime::duration_since(&ended, begun).unwrap_or_default()
}
