//! The row of a case.

use eval_core::metric::arithmetic::mean;
use eval_core::report::{MetricReport, Verdict, short};
use eval_support::words;

use super::history::{Change, History};
use super::{case, cause, difference};
use crate::output::time;
use crate::page::{CaseRow, Pill, line};
use crate::price::Cost;
use crate::recorded::{RunCounts, RunResults, State, TestResult};

pub(super) fn row(
    results: &RunResults<'_>,
    test: &TestResult<'_>,
    anchor: String,
    at: usize,
    shared: &mut case::Shared,
    history: &History,
    cost: Option<&Cost>,
) -> CaseRow {
    let mut details = case::details(results, test, shared);
    let is_shown = test.state == State::Failed || test.runs.are_flaky();
    let found = is_shown.then(|| shared.files.find(&test.attempt.started).ok()).flatten();
    let differs =
        is_shown.then(|| difference::of_test(test, found.as_ref().map(|found| &found.case))).flatten();
    let (pills, others): (Vec<_>, Vec<_>) =
        test.deciding().partition(|metric| !matches!(metric.verdict, Verdict::Passed | Verdict::Skipped(_)));
    let failed: Vec<&str> = pills.iter().map(|metric| metric.name.as_str()).collect();
    let in_work = test.is_in_progress.then(|| in_work(test.runs, &time::shown(test.attempt.started.at)));
    details.differs.clone_from(&differs);
    let why = in_work.or(differs).or_else(|| details.reason.clone());
    let change = history.change(test);
    let mut filters = state_filters(test);
    filters.extend(change.map(Change::filter));
    let scores: Vec<f64> = test.deciding().filter_map(|metric| metric.score).collect();
    let has_verdict = test.attempt.decided.is_some();
    CaseRow {
        anchor,
        at,
        filters: filters.join(" "),
        urgency: urgency(test),
        cause: cause::of_test(test, &failed, why.as_deref()),
        why,
        since: since(change.map(|change| change.words(1)), history.last_passed(test)),
        set: set(test),
        tags: test.attempt.started.tags.iter().map(|tag| line(tag)).collect::<Vec<_>>().join("\n"),
        runs: if test.runs.total == 0 { "–".to_owned() } else { test.runs.tally().to_string() },
        of_runs: of_runs(test.runs, test.is_in_progress),
        loosened: loosened(test),
        pills: pills.into_iter().map(pill).collect(),
        others: others.into_iter().map(pill).collect(),
        score: mean::naive(&scores).filter(|score| score.is_finite()),
        tokens: test.usage().agent_tokens.map(words::grouped),
        cost: cost.map(Cost::amount),
        money: cost.map(|cost| cost.money),
        time: has_verdict.then(|| time::latency(test.elapsed())),
        seconds: has_verdict.then(|| test.elapsed().as_secs_f64()),
        spark: history.spark(test),
        details,
    }
}

/// `run 2 of 3 in work; the case began 2026-11-20 02:31:07 UTC`. Journals tell of a turn when its run has ended.
fn in_work(runs: RunCounts, began: &str) -> String {
    let RunCounts { total, ran, .. } = runs;
    let what = if ran < total {
        format!("run {} of {total} in work", ran + 1)
    } else {
        "all runs ended, scores to come".to_owned()
    };
    format!("{what}; the case began {began}")
}

/// `new failure, last passed 2026-11-20 02:31:07 UTC`.
fn since(change: Option<&str>, last_passed: Option<&str>) -> Option<String> {
    let passed = last_passed.map(|at| format!("last passed {at}"));
    let parts: Vec<String> = change.map(str::to_owned).into_iter().chain(passed).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn set(test: &TestResult<'_>) -> String {
    let started = &test.attempt.started;
    line(started.eval_set_id.as_deref().or(started.file.as_deref()).unwrap_or("without a set"))
}

fn urgency(test: &TestResult<'_>) -> u8 {
    match test.state {
        State::Failed => 0,
        State::Error => 1,
        State::NotEvaluated => 2,
        State::Unfinished => 3,
        State::Passed if test.runs.are_flaky() => 4,
        State::Passed => 5,
        State::Skipped => 6,
    }
}

/// A remark on the runs: `flaky`, and how many have no verdict.
fn of_runs(runs: RunCounts, is_in_progress: bool) -> Option<String> {
    let RunCounts { total, ran, judged, .. } = runs;
    let flaky = runs.are_flaky().then(|| "flaky".to_owned());
    let open = match (total - ran.min(total), total - judged.min(total)) {
        (0, 0) => None,
        _ if total == 1 => None,
        (0, unjudged) => Some(format!("{unjudged} not scored")),
        (missing, _) if is_in_progress => Some(format!("{missing} to run")),
        (missing, _) => Some(format!("{missing} did not run")),
    };
    let parts: Vec<String> = flaky.into_iter().chain(open).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn state_filters(test: &TestResult<'_>) -> Vec<&'static str> {
    let state = test.state.filter_name();
    let flaky = test.runs.are_flaky().then_some("flaky");
    let loosened = (!test.rules().is_empty()).then_some("loosened");
    std::iter::once(state).chain(flaky).chain(loosened).collect()
}

/// `2 of 3 needed`: the rules that a run needed, of those that were applied.
fn loosened(test: &TestResult<'_>) -> Option<String> {
    let rules = test.rules();
    let needed = rules.iter().filter(|rule| rule.needed > 0).count();
    (!rules.is_empty()).then(|| format!("{needed} of {} needed", rules.len()))
}

fn pill(metric: &MetricReport) -> Pill {
    let score = match (&metric.verdict, metric.score) {
        (Verdict::Skipped(_), _) => "skipped".to_owned(),
        (Verdict::Error { .. }, None) => "error".to_owned(),
        (_, None) => "not scored".to_owned(),
        (_, Some(score)) => short(score, metric.bound()),
    };
    Pill { name: line(&metric.name), state: metric.verdict.name(), score }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_how_many_runs_neither_passed_nor_failed() {
        for (total, ran, judged, passed, is_in_progress, said) in [
            (3, 3, 3, 3, false, None),
            (3, 3, 3, 1, false, Some("flaky")),
            (3, 3, 2, 2, false, Some("1 not scored")),
            (4, 4, 2, 1, false, Some("flaky, 2 not scored")),
            (3, 1, 1, 1, false, Some("2 did not run")),
            (3, 1, 1, 1, true, Some("2 to run")),
            (3, 3, 2, 2, true, Some("1 not scored")),
            (1, 0, 0, 0, false, None),
            (1, 1, 0, 0, false, None),
            (0, 0, 0, 0, false, None),
        ] {
            let counts = RunCounts { total, ran, judged, passed };
            assert_eq!(of_runs(counts, is_in_progress).as_deref(), said, "{counts:?}");
        }
    }

    #[test]
    fn a_case_in_work_says_how_far_it_is() {
        for (total, ran, said) in [
            (1, 0, "run 1 of 1 in work; the case began now"),
            (3, 1, "run 2 of 3 in work; the case began now"),
            (2, 2, "all runs ended, scores to come; the case began now"),
        ] {
            assert_eq!(in_work(RunCounts { total, ran, ..RunCounts::default() }, "now"), said);
        }
    }

    #[test]
    fn a_row_says_what_changed_and_when_the_case_passed_last() {
        for (change, passed, said) in [
            (None, None, None),
            (Some("new failure"), None, Some("new failure")),
            (Some("still failing"), Some("t"), Some("still failing, last passed t")),
            (None, Some("t"), Some("last passed t")),
        ] {
            assert_eq!(since(change, passed).as_deref(), said);
        }
    }
}
