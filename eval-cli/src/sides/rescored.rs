//! A recorded run scored again, so that it can be compared with a build whose cases expect something else.

use eval_core::report::Verdict;
use eval_report::baseline::{Baseline, Line, key, measure};
use eval_report::journal::RecordedTest;
use eval_support::words::short_code_list;

use super::Side;
use crate::output::{CommandError, runtime};
use crate::recorded::{Cases, LoadedRun, TestResult};
use crate::rescoring::{Selection, one};

/// The side of a run whose cases were edited since: what the agent did is scored again against what `now` expects, without the
/// agent. `side` is the run as it was recorded.
///
/// A case stays as recorded, and so incomparable, if its set changed once more after `now`, if a test runner retried it, or if the
/// answer of a judge is missing.
pub(super) fn rescored(mut side: Side, loaded: &LoadedRun, now: &Baseline) -> Result<Side, CommandError> {
    let tests = TestResult::all(&loaded.run);
    let edited: Vec<(TestResult<'_>, &Line)> =
        tests.into_iter().filter_map(|test| edited(&test, now).map(|line| (test, line))).collect();
    if edited.is_empty() {
        return Ok(side);
    }
    let runtime = runtime("judges")?;
    let mut files = Cases::default();
    let mut scored: Vec<RecordedTest> = Vec::new();
    for (test, line) in edited {
        let selection = Selection { literal: line.literal, ..Selection::default() };
        let again = runtime.block_on(one(test, &selection, &mut files)).rescored();
        if fits(&again, line) {
            scored.push(again);
        }
    }
    let mut names = Vec::new();
    let measured = measure([&loaded.rescored(scored, Vec::new())], None).cases;
    for line in measured.lines() {
        let Some(recorded) = side.cases.get(&line.key()).cloned() else { continue };
        names.push(line.key().to_string());
        // A test that is scored again has no transcripts.
        let Line { tokens, seconds, calls, from, .. } = recorded;
        side.cases.bless([Line { tokens, seconds, calls, from, ..line.clone() }]);
    }
    if !names.is_empty() {
        side.notes.push(format!(
            "{} expected something else in {}: what was recorded is scored again, against what is expected now",
            short_code_list(&names),
            side.name
        ));
    }
    Ok(side)
}

/// The line of a test's case now, if it asks the same and expects something else.
fn edited<'l>(test: &TestResult<'_>, now: &'l Baseline) -> Option<&'l Line> {
    let started = &test.attempt.started;
    let line = now.get(&key(test)?)?;
    (test.retry().is_none() && line.asks == started.asks && line.expects != started.expects).then_some(line)
}

/// Whether a test was scored again as its case is scored now.
fn fits(again: &RecordedTest, now: &Line) -> bool {
    let Some(attempt) = again.attempts.last() else { return false };
    let is_error = |verdict: &Verdict| matches!(verdict, Verdict::Error { .. });
    let has_verdict = attempt.decided.as_ref().is_some_and(|decided| !is_error(&decided.verdict));
    has_verdict && attempt.started.expects == now.expects
}
