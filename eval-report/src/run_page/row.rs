//! The row of a case.

use std::time::SystemTime;

use eval_core::metric::arithmetic::mean;
use eval_core::report::{MetricReport, Verdict, short};
use eval_format::options::PassRule;
use eval_support::words;

use super::history::{History, SinceBefore};
use super::scores::missed;
use super::since::{self, Since};
use super::{case, cause};
use crate::journal::{Attempt, Evaluation};
use crate::output::time;
use crate::page::{CaseRow, InWork, Pill, line};
use crate::price::Cost;
use crate::recorded::{AppliedRule, RunCounts, RunResults, State, TestResult};

/// The runs before a run, and its baseline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before<'b> {
    pub(super) history: &'b History,
    pub(super) since: &'b Since,
}

pub(super) fn row(
    results: &RunResults<'_>,
    test: &TestResult<'_>,
    anchor: String,
    at: usize,
    shared: &mut case::PageState,
    Before { history, since }: Before<'_>,
    cost: Option<&Cost>,
) -> CaseRow {
    let mut details = case::details(results, test, shared);
    let (pills, others): (Vec<_>, Vec<_>) =
        test.deciding().partition(|metric| !matches!(metric.verdict, Verdict::Passed | Verdict::Skipped(_)));
    let failed: Vec<&str> = pills.iter().map(|metric| metric.name.as_str()).collect();
    details.in_work = test.is_in_progress.then(|| in_work(test.runs, test.attempt));
    details.mark_told();
    let in_work = details.in_work.as_ref().map(|it| it.what.clone());
    let why = in_work.or_else(|| details.differs.clone()).or_else(|| details.reason.clone());
    let change = history.change(test);
    let rules = test.rules();
    let mut filters = state_filters(test, !rules.is_empty());
    filters.extend(change.map(SinceBefore::filter));
    let compared = since.case(test);
    filters.extend(compared.map(|case| case.category.name()));
    details.since = compared.map(since::case_since);
    details.history = history.of_case(test);
    let scores: Vec<f64> = test.deciding().filter_map(|metric| metric.score).collect();
    let has_verdict = test.attempt.decided.is_some();
    CaseRow {
        anchor,
        at,
        filters: filters.join(" "),
        urgency: urgency(test),
        cause: cause::of_test(test, &failed, why.as_deref()),
        why,
        since: since_run(change.map(|change| change.words(1)), history.last_passed(test)),
        category: compared.map(|case| case.category.words()),
        against: compared.and_then(since::row),
        set: set(test),
        tags: test.attempt.started.tags.iter().map(|tag| line(tag)).collect::<Vec<_>>().join("\n"),
        runs: if test.runs.total == 0 { "–".to_owned() } else { test.runs.tally().to_string() },
        of_runs: of_runs(test.runs, test.is_in_progress, test.attempt.started.pass),
        loosened: loosened(&rules),
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

/// `run 2 of 3: turn 1 of 2`, and when it began.
fn in_work(runs: RunCounts, attempt: &Attempt) -> InWork {
    let RunCounts { total, ran, .. } = runs;
    let in_run = |number: usize, what: &str| match (total, what) {
        (0 | 1, "") => "in work".to_owned(),
        (0 | 1, what) => what.to_owned(),
        (_, "") => format!("run {number} of {total} in work"),
        (_, what) => format!("run {number} of {total}: {what}"),
    };
    let last = attempt.evaluations.last();
    let is_unscored = |it: &&Evaluation| it.scored.is_none() && it.ran.transcript.error.is_none();
    match (&attempt.turn, last.filter(is_unscored)) {
        (Some(turn), _) => {
            let of = turn.turns.map(|turns| format!(" of {turns}")).unwrap_or_default();
            InWork::since(in_run(turn.run, &format!("turn {}{of}", turn.turn)), turn.at)
        }
        (None, Some(evaluation)) => InWork {
            what: in_run(evaluation.ran.run, "all turns ended, scores to come"),
            ..InWork::default()
        },
        (None, None) if ran == 0 => InWork::since(in_run(1, ""), attempt.started.at),
        (None, None) if ran < total => InWork { what: in_run(ran + 1, ""), ..InWork::default() },
        (None, None) => {
            InWork { what: "all runs ended, the verdict to come".to_owned(), ..InWork::default() }
        }
    }
}

impl InWork {
    fn since(what: String, at: SystemTime) -> Self {
        Self { what, began: Some(time::iso(at)), shown: Some(time::shown(at)) }
    }
}

/// `new failure, last passed 2026-11-20 02:31:07 UTC`.
fn since_run(change: Option<&str>, last_passed: Option<&str>) -> Option<String> {
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

/// A remark on the runs: `flaky`, how many have no verdict, and how many have to pass unless their mean decides.
fn of_runs(runs: RunCounts, is_in_progress: bool, pass: PassRule) -> Option<String> {
    let RunCounts { total, ran, judged, .. } = runs;
    let flaky = runs.are_flaky().then(|| "flaky".to_owned());
    let open = match (total - ran.min(total), total - judged.min(total)) {
        (0, 0) => None,
        _ if total == 1 => None,
        (0, unjudged) => Some(format!("{unjudged} without a verdict")),
        (missing, _) if is_in_progress => Some(format!("{missing} to run")),
        (missing, _) => Some(format!("{missing} did not run")),
    };
    let needed = pass.needed(total).filter(|_| total > 1).map(|needed| format!("{needed} needed"));
    let parts: Vec<String> = flaky.into_iter().chain(open).chain(needed).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn state_filters(test: &TestResult<'_>, has_rules: bool) -> Vec<&'static str> {
    let state = test.state.filter_name();
    let flaky = test.runs.are_flaky().then_some("flaky");
    let loosened = has_rules.then_some("loosened");
    std::iter::once(state).chain(flaky).chain(loosened).collect()
}

/// `3 rules, 2 needed`: the rules that were applied, and those that a run needed.
fn loosened(rules: &[AppliedRule<'_>]) -> Option<String> {
    let needed = rules.iter().filter(|rule| rule.needed > 0).count();
    (!rules.is_empty()).then(|| format!("{}, {needed} needed", words::count(rules.len(), "rule")))
}

fn pill(metric: &MetricReport) -> Pill {
    let score = match (&metric.verdict, metric.score) {
        (Verdict::Skipped(_), _) => "skipped".to_owned(),
        (Verdict::Error { .. }, None) => "error".to_owned(),
        (_, None) => State::NotEvaluated.counted(1).to_owned(),
        (_, Some(score)) => short(score, metric.bound()) + &missed(score, metric.bound()),
    };
    Pill { name: line(&metric.name), state: metric.verdict.name(), score }
}

#[cfg(test)]
mod tests {
    use eval_core::journal::sealed_line;
    use serde_json::json;

    use super::*;
    use crate::journal::RecordedRun;

    #[test]
    fn it_is_said_how_many_runs_neither_passed_nor_failed() {
        let all = |counts| of_runs(counts, false, PassRule::AtLeast(4));
        let counts = |total, passed| RunCounts { total, ran: total, judged: total, passed };
        assert_eq!(all(counts(5, 3)).as_deref(), Some("flaky, 4 needed"));
        assert_eq!(all(counts(1, 1)), None);
        for (total, ran, judged, passed, is_in_progress, said) in [
            (3, 3, 3, 3, false, None),
            (3, 3, 3, 1, false, Some("flaky")),
            (3, 3, 2, 2, false, Some("1 without a verdict")),
            (4, 4, 2, 1, false, Some("flaky, 2 without a verdict")),
            (3, 1, 1, 1, false, Some("2 did not run")),
            (3, 1, 1, 1, true, Some("2 to run")),
            (3, 3, 2, 2, true, Some("1 without a verdict")),
            (1, 0, 0, 0, false, None),
            (1, 1, 0, 0, false, None),
            (0, 0, 0, 0, false, None),
        ] {
            let counts = RunCounts { total, ran, judged, passed };
            assert_eq!(of_runs(counts, is_in_progress, PassRule::Mean).as_deref(), said, "{counts:?}");
        }
    }

    #[test]
    fn a_case_in_work_says_which_turn_is_in_work_since_when() {
        let (began, turn) = ("2026-11-22T02:31:07.250Z", "2026-11-22T02:31:09.500Z");
        let started = json!({ "record": "started", "test": 1, "name": "a", "eval_id": "a", "pass": "mean", "gate": "mean",
            "attempt": 1, "at": began });
        let turn = |run: usize, number: usize, turns: Option<usize>| json!({ "record": "turn", "test": 1, "run": run, "turn": number, "turns": turns, "at": turn });
        let ran = |run: usize, error: serde_json::Value| json!({ "record": "ran", "test": 1, "run": run, "evaluation": run, "transcript": error });
        let scored = |run: usize| json!({ "record": "scored", "test": 1, "run": run, "evaluation": run, "metrics": [] });
        let whole = || json!({});
        let gone = || json!({ "error": { "role": "agent", "message": "gone" } });
        for (runs, records, what, since) in [
            (1, vec![], "in work", Some(":07.250Z")),
            (1, vec![turn(1, 2, Some(3))], "turn 2 of 3", Some(":09.500Z")),
            (1, vec![turn(1, 1, Some(2)), turn(1, 2, Some(2))], "turn 2 of 2", Some(":09.500Z")),
            (1, vec![turn(1, 2, None)], "turn 2", Some(":09.500Z")),
            (1, vec![turn(1, 1, None), ran(1, whole())], "all turns ended, scores to come", None),
            (1, vec![ran(1, whole()), scored(1)], "all runs ended, the verdict to come", None),
            (3, vec![], "run 1 of 3 in work", Some(":07.250Z")),
            (
                3,
                vec![ran(1, whole()), scored(1), turn(2, 1, Some(2))],
                "run 2 of 3: turn 1 of 2",
                Some(":09.500Z"),
            ),
            (3, vec![ran(1, whole())], "run 1 of 3: all turns ended, scores to come", None),
            (3, vec![ran(1, gone())], "run 2 of 3 in work", None),
            (3, vec![turn(1, 1, Some(1)), ran(1, whole()), scored(1)], "run 2 of 3 in work", None),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let head = json!({ "record": "head", "schema": 2, "evalset": "0", "run": "r", "pid": 1, "started": began });
            let mut started = started.clone();
            started["runs"] = runs.into();
            let all = [head, started].into_iter().chain(records);
            let text: String = all.zip(1..).map(|(record, number)| sealed_line(&record, number)).collect();
            std::fs::write(folder.path().join("a.jsonl"), text).unwrap();
            let run = RecordedRun::read(folder.path()).unwrap();
            assert_eq!(run.unreadable, []);
            let [test] = TestResult::all(&run).try_into().unwrap();
            let found = in_work(test.runs, test.attempt);
            assert_eq!(found.what, what);
            assert_eq!(found.began.as_deref().map(|it| &it[16..]), since, "{what}");
            assert_eq!(found.shown.is_some(), since.is_some());
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
            assert_eq!(since_run(change, passed).as_deref(), said);
        }
    }
}
