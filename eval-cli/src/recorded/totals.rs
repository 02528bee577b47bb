//! What all tests of a run come to together.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use eval_core::journal::RecordedRun;
use eval_core::statistics::{StatisticsError, Tally};

use super::{Recorded, State, Usage};
use crate::answer::Outcome;
use crate::words::count;

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
    /// Cases of which some runs passed and some did not, whatever their verdict.
    pub(crate) flaky: usize,
    /// Cases that passed only after the runner tried again.
    pub(crate) retried: usize,
    /// Runs of all cases.
    pub(crate) runs: usize,
    /// Runs that have a verdict.
    pub(crate) judged: usize,
    pub(crate) usage: Usage,
    /// From the first test to the last.
    pub(crate) elapsed: Duration,
    /// Lines of the journal that cannot be read: something is missing.
    pub(crate) unreadable: usize,
    /// Tests that began, of which nothing else is known.
    pub(crate) lost: usize,
    /// Cases of the same sets that left no record: filtered out, or never begun.
    pub(crate) not_run: usize,
    /// The runs of each case of which every run has a verdict.
    tallies: Vec<Tally>,
}

/// The mean of an estimate over the cases that it can be made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OverCases {
    pub(crate) k: usize,
    pub(crate) pass_at: f64,
    pub(crate) pass_all: f64,
    pub(crate) cases: usize,
}

impl Totals {
    pub(crate) fn of(run: &RecordedRun, tests: &[Recorded<'_>]) -> Self {
        let mut totals = Self {
            cases: tests.len(),
            unreadable: run.unreadable.len(),
            lost: run.lost,
            not_run: not_run(tests),
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
            totals.flaky += usize::from(test.runs.are_flaky());
            totals.retried += usize::from(test.state == State::Passed && test.retried().is_some());
            totals.runs += test.runs.total;
            totals.judged += test.runs.judged;
            totals.usage.add(test.usage());
            if test.runs.total > 0 && test.runs.judged == test.runs.total {
                totals.tallies.push(test.runs.tally());
            }
        }
        totals.elapsed = span(tests);
        totals
    }

    /// Cases that passed, of all that were not skipped.
    pub(crate) fn tally(&self) -> Tally {
        Tally::new(self.passed, self.cases - self.skipped).unwrap_or_default()
    }

    /// Failed where something failed, unmeasurable where something has no verdict: that is the worse, since nobody
    /// knows what it would have been.
    pub(crate) fn outcome(&self) -> Outcome {
        let unmeasured = self.not_evaluated + self.errors + self.unfinished + self.unreadable + self.lost;
        if unmeasured > 0 || self.passed + self.failed == 0 {
            Outcome::Unmeasurable
        } else if self.failed > 0 {
            Outcome::Failed
        } else {
            Outcome::Passed
        }
    }

    /// Why the outcome is what it is, and what it says nothing about.
    pub(crate) fn reason(&self) -> String {
        let reason = self.outcome_of_those_that_ran();
        if self.not_run == 0 {
            return reason;
        }
        format!("{reason}; {} of the same sets did not run", count(self.not_run, "more case"))
    }

    fn outcome_of_those_that_ran(&self) -> String {
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
            1 => reasons.push("one more began, and its record was torn".to_owned()),
            lost => reasons.push(format!("{lost} more began, and their records were torn")),
        }
        match (reasons.is_empty(), self.cases, self.passed) {
            (false, ..) => format!("of {cases}: {}", reasons.join(", ")),
            (true, 0, _) => "no case ran".to_owned(),
            (true, _, 0) => format!("of {cases}: all skipped, so nothing was checked"),
            (true, ..) if self.skipped > 0 => {
                format!("of {cases}: {} passed, {} skipped", self.passed, self.skipped)
            }
            (true, 1, _) => "the one case passed".to_owned(),
            (true, ..) => format!("all of {cases}"),
        }
    }

    /// pass@k and pass^k, as means over the cases of which every run has a verdict; k is that asked for, or else the
    /// number of runs that each of them has. Absent where every case runs once and nobody asks.
    ///
    /// A case that ran less than `k` times is an error: nothing is known of it.
    pub(crate) fn over_cases(&self, k: Option<usize>) -> Result<Option<OverCases>, StatisticsError> {
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

/// How many cases of the sets that tests were made of left no record. The tests of a file stand in one module.
fn not_run(tests: &[Recorded<'_>]) -> usize {
    let mut modules: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    for Recorded { test, attempt, .. } in tests {
        let module = test.name.rsplit_once("::").map_or("", |(module, _)| module);
        let (cases, ran) = modules.entry((&test.package, &test.binary, module)).or_default();
        *cases = attempt.started.set_cases.unwrap_or_default().max(*cases);
        *ran += 1;
    }
    modules.values().map(|(cases, ran)| cases.saturating_sub(*ran)).sum()
}

fn span(tests: &[Recorded<'_>]) -> Duration {
    let attempts = || tests.iter().flat_map(|test| &test.test.attempts);
    let begun = attempts().map(|attempt| attempt.started.at).min();
    let ended = attempts().filter_map(|attempt| attempt.decided.as_ref()).map(|decided| decided.at).max();
    let (Some(begun), Some(ended)) = (begun, ended) else { return Duration::ZERO };
    SystemTime::duration_since(&ended, begun).unwrap_or_default()
}
