//! Totals over all tests of a run.

use std::time::{Duration, SystemTime};

use eval_support::words::{count, were};
use serde::Serialize;

use crate::journal::RecordedRun;
use crate::statistics::{PassCount, StatisticsError, float};

use super::test::{State, TestResult};
use super::usage::RunUsage;
use crate::output::Outcome;

#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts about the run")]
pub struct Totals {
    pub cases: usize,
    pub passed: usize,
    pub failed: usize,
    pub not_evaluated: usize,
    pub errors: usize,
    pub skipped: usize,
    pub unfinished: usize,
    /// Cases of which some runs passed and others did not, whatever their verdict.
    pub flaky: usize,
    /// Cases with a verdict although one of their metrics was skipped.
    pub partly_skipped: usize,
    /// Cases that passed only when the test runner tried again.
    pub retried: usize,
    pub runs: usize,
    pub runs_with_verdict: usize,
    pub usage: RunUsage,
    /// From the start of the first test to the end of the last.
    pub elapsed: Duration,
    /// Lines of the journal that cannot be read.
    pub unreadable: usize,
    /// Tests whose record is truncated after their beginning.
    pub lost: usize,
    /// Tests that were to run and never began.
    pub missing: usize,
    /// Test binaries whose list of tests is not in the journal.
    pub unlisted: usize,
    /// Processes of hand-written tests and programs that did not record their end.
    pub unended: usize,
    /// Cases that were added to their sets since the run, if it was scored again.
    pub added: usize,
    /// Tests that were left out on purpose.
    pub left_out: usize,
    /// Recorded cases that the tags of the report do not take.
    pub not_selected: usize,
    /// Whether the test run is still in progress: a test without a verdict may still get one.
    pub is_running: bool,
    /// Whether the run may be another one than is meant.
    pub is_doubtful: bool,
    /// Whether the runner may have ended before it started all test binaries.
    pub is_cut_short: bool,
    /// Whether a part of the run is missing in the folder or store that was read.
    pub lacks_parts: bool,
    /// The counts of runs of each case whose runs all have a verdict.
    tallies: Vec<PassCount>,
}

/// pass@k and pass^k, as means over the cases that they can be estimated for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PassEstimates {
    pub k: usize,
    #[serde(rename = "pass_at_k")]
    pub pass_at: f64,
    #[serde(rename = "pass_all_k")]
    pub pass_all: f64,
    pub cases: usize,
}

impl Totals {
    pub(super) fn new(run: &RecordedRun, tests: &[TestResult<'_>]) -> Self {
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
            totals.runs_with_verdict += test.runs.judged;
            totals.usage.add(test.usage());
            if test.runs.total > 0 && test.runs.judged == test.runs.total {
                totals.tallies.push(test.runs.tally());
            }
        }
        totals
    }

    /// Cases that passed, of all that were not skipped and are not in progress.
    pub fn tally(&self) -> PassCount {
        let in_work = if self.is_running { self.unfinished } else { 0 };
        PassCount::new(self.passed, self.cases - self.skipped - in_work).unwrap_or_default()
    }

    pub fn outcome_word(&self) -> &'static str {
        if self.is_running { "running" } else { self.outcome().name() }
    }

    /// `Unmeasurable` if anything has no verdict, else `Failed` if anything failed. A missing verdict takes
    /// precedence over a failure, since it may have been anything.
    pub fn outcome(&self) -> Outcome {
        let unmeasured = self.not_evaluated + self.errors + self.unfinished;
        if unmeasured > 0 || !self.is_whole() || self.passed + self.failed == 0 {
            Outcome::Unmeasurable
        } else if self.failed > 0 {
            Outcome::Failed
        } else {
            Outcome::Passed
        }
    }

    /// Whether the run is complete and is the run that is meant. The outcome of such a run depends on the verdicts of
    /// its cases alone.
    pub fn is_whole(&self) -> bool {
        let gap_count =
            self.unreadable + self.lost + self.missing + self.unlisted + self.unended + self.added;
        gap_count == 0 && !self.lacks_parts && !self.is_doubtful && !self.is_cut_short
    }

    /// The counts that explain the outcome, and how many cases it does not cover.
    pub fn reason(&self) -> String {
        if self.is_running {
            return self.so_far();
        }
        [self.reason_of_recorded()].into_iter().chain(self.uncovered()).collect::<Vec<_>>().join("; ")
    }

    /// The gaps of the record and the cases that it does not cover, each in a clause.
    pub fn gaps_and_uncovered(&self) -> Vec<String> {
        self.unread().into_iter().chain(self.uncovered()).collect()
    }

    fn uncovered(&self) -> Vec<String> {
        let were = were(self.left_out);
        let binaries = match self.unlisted {
            1 => "a test binary was".to_owned(),
            more => format!("{more} test binaries were"),
        };
        let processes = match self.unended {
            1 => "a process".to_owned(),
            more => format!("{more} processes"),
        };
        let more_tests = |number| count(number, "more test");
        let more = [
            (self.missing > 0).then(|| format!("{} never began", more_tests(self.missing))),
            (self.left_out > 0).then(|| format!("{} {were} left out on purpose", more_tests(self.left_out))),
            (self.not_selected > 0)
                .then(|| format!("{} not selected by tags", count(self.not_selected, "more case"))),
            (self.unlisted > 0).then(|| format!("what {binaries} to run is not recorded")),
            (self.unended > 0).then(|| format!("{processes} did not end, and may have had more to run")),
            (self.added > 0)
                .then(|| format!("{} of the sets now did not run", count(self.added, "more case"))),
            self.lacks_parts.then(|| "a part of the run is missing".to_owned()),
            self.is_cut_short.then(|| "test binaries may not have been started".to_owned()),
            self.is_doubtful.then(|| "the run may be another one than is meant".to_owned()),
        ];
        more.into_iter().flatten().collect()
    }

    /// Lines and tests of the journal that cannot be read.
    fn unread(&self) -> Vec<String> {
        let lines = (self.unreadable > 0)
            .then(|| format!("{} of the journal cannot be read", count(self.unreadable, "line")));
        let lost = match self.lost {
            0 => None,
            1 => Some("1 more test began, and its record is incomplete".to_owned()),
            lost => Some(format!("{lost} more tests began, and their records are incomplete")),
        };
        lines.into_iter().chain(lost).collect()
    }

    /// The counts of a run in progress: tests that did not begin may still begin.
    fn so_far(&self) -> String {
        let counted = [
            (self.passed, "passed"),
            (self.failed, "failed"),
            (self.errors, "with errors"),
            (self.not_evaluated, "not evaluated"),
            (self.skipped, "skipped"),
            (self.unfinished, "in work"),
            (self.missing, "to begin"),
        ];
        let counted = counted_parts(&counted);
        if counted.is_empty() { "no case began yet".to_owned() } else { counted.join(", ") }
    }

    fn reason_of_recorded(&self) -> String {
        let mut reasons = counted_parts(&[
            (self.failed, "failed"),
            (self.errors, "with errors"),
            (self.not_evaluated, "not evaluated"),
            (self.unfinished, "unfinished"),
        ]);
        let cases = count(self.cases, "case");
        reasons.extend(self.unread());
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

    /// pass@k and pass^k, as means over the cases whose runs all have a verdict. Without a `k`, it is the
    /// least number of runs of these cases; `None` if that is 1.
    ///
    /// Fails if a case has fewer than `k` runs: nothing can be estimated for it.
    pub(super) fn over_cases(&self, k: Option<usize>) -> Result<Option<PassEstimates>, StatisticsError> {
        let fewest = self.tallies.iter().map(|tally| tally.total()).min();
        let Some(k) = k.or(fewest.filter(|runs| *runs > 1)) else { return Ok(None) };
        let (mut pass_at, mut pass_all) = (0.0, 0.0);
        for tally in &self.tallies {
            pass_at += tally.pass_at(k)?;
            pass_all += tally.pass_all(k)?;
        }
        let cases = self.tallies.len();
        let n = float(cases);
        Ok((cases > 0).then(|| PassEstimates { k, pass_at: pass_at / n, pass_all: pass_all / n, cases }))
    }
}

fn counted_parts(parts: &[(usize, &str)]) -> Vec<String> {
    let some = parts.iter().filter(|(number, _)| *number > 0);
    some.map(|(number, what)| format!("{number} {what}")).collect()
}

fn span(tests: &[TestResult<'_>]) -> Duration {
    let attempts = || tests.iter().flat_map(|test| &test.test.attempts);
    let begun = attempts().map(|attempt| attempt.started.at).min();
    let ended = attempts().filter_map(|attempt| attempt.decided.as_ref()).map(|decided| decided.at).max();
    let (Some(begun), Some(ended)) = (begun, ended) else { return Duration::ZERO };
    SystemTime::duration_since(&ended, begun).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Totals of three cases that passed, with a change.
    fn with(change: impl FnOnce(&mut Totals)) -> Totals {
        let mut totals = Totals { cases: 3, passed: 3, ..Totals::default() };
        change(&mut totals);
        totals
    }

    #[test]
    fn a_run_passed_only_if_it_is_whole_and_each_case_passed_or_was_skipped() {
        type Change = fn(&mut Totals);
        let all: [(Change, Outcome, &str); 18] = [
            (|_| {}, Outcome::Passed, "all 3 cases passed"),
            (|it| (it.passed, it.skipped) = (2, 1), Outcome::Passed, "of 3 cases: 2 passed, 1 skipped"),
            (|it| (it.cases, it.passed) = (1, 1), Outcome::Passed, "the one case passed"),
            (
                |it| it.left_out = 2,
                Outcome::Passed,
                "all 3 cases passed; 2 more tests were left out on purpose",
            ),
            (
                |it| it.not_selected = 1,
                Outcome::Passed,
                "all 3 cases passed; 1 more case not selected by tags",
            ),
            (|it| (it.passed, it.failed) = (2, 1), Outcome::Failed, "of 3 cases: 1 failed"),
            (
                |it| (it.failed, it.errors) = (1, 1),
                Outcome::Unmeasurable,
                "of 3 cases: 1 failed, 1 with errors",
            ),
            (|it| it.not_evaluated = 1, Outcome::Unmeasurable, "of 3 cases: 1 not evaluated"),
            (|it| it.unfinished = 1, Outcome::Unmeasurable, "of 3 cases: 1 unfinished"),
            (|it| (it.cases, it.passed) = (0, 0), Outcome::Unmeasurable, "no case ran"),
            (
                |it| (it.passed, it.skipped) = (0, 3),
                Outcome::Unmeasurable,
                "of 3 cases: all skipped, so nothing was checked",
            ),
            (
                |it| it.unreadable = 1,
                Outcome::Unmeasurable,
                "of 3 cases: 1 line of the journal cannot be read",
            ),
            (
                |it| it.lost = 2,
                Outcome::Unmeasurable,
                "of 3 cases: 2 more tests began, and their records are incomplete",
            ),
            (|it| it.missing = 1, Outcome::Unmeasurable, "all 3 cases passed; 1 more test never began"),
            (
                |it| (it.unlisted, it.left_out) = (2, 1),
                Outcome::Unmeasurable,
                "all 3 cases passed; 1 more test was left out on purpose; what 2 test binaries were to run is not recorded",
            ),
            (
                |it| it.unended = 1,
                Outcome::Unmeasurable,
                "all 3 cases passed; a process did not end, and may have had more to run",
            ),
            (
                |it| (it.added, it.lacks_parts) = (1, true),
                Outcome::Unmeasurable,
                "all 3 cases passed; 1 more case of the sets now did not run; a part of the run is missing",
            ),
            (
                |it| (it.is_cut_short, it.is_doubtful) = (true, true),
                Outcome::Unmeasurable,
                "all 3 cases passed; test binaries may not have been started; the run may be another one than is meant",
            ),
        ];
        for (change, outcome, reason) in all {
            let totals = with(change);
            assert_eq!((totals.outcome(), totals.reason().as_str()), (outcome, reason));
            assert_eq!(totals.outcome_word(), outcome.name());
        }
        for is_doubt in [|it: &mut Totals| it.lacks_parts = true, |it: &mut Totals| it.is_cut_short = true] {
            assert!(!with(is_doubt).is_whole());
        }
    }

    #[test]
    fn a_run_that_runs_has_counts_and_no_outcome() {
        let running = with(|it| {
            (it.cases, it.passed, it.skipped, it.unfinished, it.missing) = (6, 3, 1, 2, 4);
            it.is_running = true;
        });
        assert_eq!(running.outcome_word(), "running");
        assert_eq!(running.reason(), "3 passed, 1 skipped, 2 in work, 4 to begin");
        assert_eq!(running.tally().to_string(), "3/3", "cases in work may still pass");
        let ended = Totals { is_running: false, ..running };
        assert_eq!(ended.tally().to_string(), "3/5");
        assert_eq!(Totals { is_running: true, ..Totals::default() }.reason(), "no case began yet");
    }

    #[test]
    fn pass_at_k_is_the_mean_over_cases_with_runs_enough() {
        let of = |tallies: &[(usize, usize)], k| {
            let tallies =
                tallies.iter().map(|(passed, total)| PassCount::new(*passed, *total).unwrap()).collect();
            Totals { tallies, ..Totals::default() }.over_cases(k)
        };
        let over = |k, pass_at, pass_all, cases| Ok(Some(PassEstimates { k, pass_at, pass_all, cases }));
        assert_eq!(of(&[], None), Ok(None));
        assert_eq!(of(&[(1, 1), (3, 3)], None), Ok(None), "the least number of runs is one");
        assert_eq!(of(&[(2, 2), (1, 2)], None), over(2, 1.0, 0.5, 2));
        assert_eq!(of(&[(2, 2), (0, 2)], Some(1)), over(1, 0.5, 0.5, 2));
        assert!(of(&[(2, 2)], Some(3)).is_err());
        assert_eq!(of(&[], Some(3)), Ok(None));
    }
}
