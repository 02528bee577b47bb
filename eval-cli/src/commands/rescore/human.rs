//! Changes of scores, for people.

use std::collections::BTreeSet;

use eval_core::report::{MetricReport, Verdict, short};
use eval_format::Bound;
use eval_report::formats::human_summary;
use eval_support::untrusted::{one_line, quoted};
use eval_support::words::{code_list, count};

use crate::output::styled;
use crate::recorded::{Problem, State, TestResult, gaps};
use crate::rescoring::{Now, RescoredCase, RescoredRun};

pub(super) fn text(run: &RescoredRun<'_>) -> String {
    let runs: usize = run.cases.iter().map(|case| case.test.runs.ran).sum();
    let (cases, runs) = (count(run.cases.len(), "case"), count(runs, "run"));
    let mut text = format!("Rescored {}  {cases} · {runs}, no agent was run\n", run.now.loaded.name());
    let pairs = run.cases.iter().zip(&run.now.tests);
    let changed: Vec<String> = pairs.filter_map(|(case, now)| lines(case, now)).collect();
    text.push_str(&changed.concat());
    text.push_str("──────────\n");
    text.push_str(&summary(run, changed.len()));
    text
}

fn word(state: State) -> String {
    let (word, style) = state.label();
    styled(style, word)
}

/// The lines about a case; `None` if nothing changed.
fn lines(case: &RescoredCase<'_>, rescored: &TestResult<'_>) -> Option<String> {
    let name = one_line(&case.test.name);
    let (before, now) = (case.test.state, rescored.state);
    if let Now::Not(reason) = &case.now {
        let error = word(State::Error);
        return Some(format!("  {error} not scored again  {name}\n    {}\n", indented(reason)));
    }
    let changed = changes(&case.test, rescored);
    if changed.is_empty() && before == now {
        return None;
    }
    let states = if before == now { word(now) } else { format!("{} -> {}", word(before), word(now)) };
    let edited = if case.is_edited { "  (edited since)" } else { "" };
    let mut text = format!("  {states}  {name}{edited}\n");
    text.extend(changed.iter().map(|line| format!("    {line}\n")));
    let verdict = rescored.attempt.decided.as_ref().map(|decided| &decided.verdict);
    if let Some(reason) = verdict.and_then(Verdict::reason).filter(|_| now.is_unmeasured()) {
        text.push_str(&format!("    {}\n", indented(reason)));
    }
    Some(text)
}

fn indented(text: &str) -> String {
    quoted(text, 4)
}

/// A line for each metric that changed: first the present metrics, then the removed ones.
fn changes(before: &TestResult<'_>, now: &TestResult<'_>) -> Vec<String> {
    let lines = now.deciding().filter_map(|metric| {
        let before = before.deciding().find(|before| before.name == metric.name);
        let score = || score(metric, short);
        before.map_or_else(
            || Some(format!("{}  {}, a new criterion, {}", one_line(&metric.name), score(), metric.verdict)),
            |before| line(before, metric),
        )
    });
    let gone = before.deciding().filter(|gone| now.deciding().all(|metric| metric.name != gone.name));
    let gone = gone.map(|gone| {
        let name = one_line(&gone.name);
        format!("{name}  {}, no longer a criterion, {}", score(gone, short), gone.verdict)
    });
    lines.chain(gone).collect()
}

/// `response_match_score  0.5 -> 0.75, threshold 0.8, FAILED -> passed`; `None` if the metric did not change.
fn line(before: &MetricReport, now: &MetricReport) -> Option<String> {
    let name = one_line(&now.name);
    let same_score =
        same(before.score, now.score) && (before.scored, before.total) == (now.scored, now.total);
    if same_score && before.bound() == now.bound() && before.verdict == now.verdict {
        return None;
    }
    let threshold =
        |metric: &MetricReport| metric.bound().map_or_else(|| "-".to_owned(), |it| it.to_string());
    let scores = match arrow(&score(before, short), &score(now, short)) {
        alike if !same_score && !alike.contains(" -> ") => arrow(&score(before, exact), &score(now, exact)),
        scores => scores,
    };
    let parts = [
        scores,
        format!("threshold {}", arrow(&threshold(before), &threshold(now))),
        arrow(&before.verdict.to_string(), &now.verdict.to_string()),
    ];
    Some(format!("{name}  {}", parts.join(", ")))
}

/// Whether two numbers are equal bit for bit: every change is shown.
fn same(before: Option<f64>, now: Option<f64>) -> bool {
    before.map(f64::to_bits) == now.map(f64::to_bits)
}

fn score(metric: &MetricReport, shown: fn(f64, Option<Bound>) -> String) -> String {
    match metric.score.map(|score| shown(score, metric.bound())) {
        Some(score) if metric.scored < metric.total => {
            format!("{score} ({}/{} scored)", metric.scored, metric.total)
        }
        Some(score) => score,
        None => "-".to_owned(),
    }
}

/// A score with all digits, where fewer would hide that it changed.
fn exact(score: f64, _: Option<Bound>) -> String {
    format!("{score:?}")
}

fn arrow(before: &str, now: &str) -> String {
    if before == now { now.to_owned() } else { format!("{before} -> {now}") }
}

fn summary(run: &RescoredRun<'_>, changed: usize) -> String {
    let cases = run.cases;
    let mut parts = Vec::new();
    for state in
        [State::Passed, State::Failed, State::NotEvaluated, State::Error, State::Unfinished, State::Skipped]
    {
        let before = cases.iter().filter(|case| case.test.state == state).count();
        let now = run.now.tests.iter().filter(|test| test.state == state).count();
        if before + now > 0 {
            parts.push(format!("{} {}", arrow(&before.to_string(), &now.to_string()), state.counted(now)));
        }
    }
    let cases = count(cases.len(), "case");
    let first = format!("{cases}: {}", parts.join(", "));
    human_summary(&first, [format!("{changed}/{cases} changed")], notes(run), &run.now.totals)
}

/// The number of rules that were applied now, and not when the cases ran.
fn loosened_since(run: &RescoredRun<'_>) -> usize {
    run.cases.iter().zip(&run.now.tests).map(|(case, now)| now.loosened_since(&case.test)).sum()
}

fn notes(run: &RescoredRun<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let kept: BTreeSet<&String> = run.cases.iter().flat_map(|case| &case.kept).collect();
    if !kept.is_empty() {
        let kept: Vec<String> = kept.into_iter().map(|name| one_line(name)).collect();
        notes.push(format!("the recorded scores of {} are kept", code_list(&kept)));
    }
    let own: BTreeSet<&str> = run.cases.iter().flat_map(RescoredCase::own_under_built_in_names).collect();
    if !own.is_empty() {
        let own: Vec<String> = own.into_iter().map(one_line).collect();
        let are_metrics = if own.len() == 1 { "is a metric" } else { "are metrics" };
        notes.push(format!(
            "{} {are_metrics} of your own, which only your tests can run; built-in metrics of the same name were not used",
            code_list(&own)
        ));
    }
    match run.cases.iter().filter(|case| case.is_edited).count() {
        0 => {}
        1 => notes.push("1 case was edited after it ran, and is scored as it is now".to_owned()),
        edited => {
            notes.push(format!("{edited} cases were edited after they ran, and are scored as they are now"));
        }
    }
    match loosened_since(run) {
        0 => {}
        points => notes.push(format!("{} loosened since this run", count(points, "point"))),
    }
    notes.extend(gaps(&run.now.loaded.run));
    if run.now.totals.added > 0 {
        notes.push(
            "run the tests again, or say `rescore --partial` if it is enough to score what ran".to_owned(),
        );
    }
    notes.extend(run.left_out.iter().map(|left_out| format!("left out on purpose: {left_out}")));
    // The problems that keep `report` from passing, whatever the scores are.
    if !run.now.totals.is_whole() {
        notes.extend(run.now.problems.iter().map(Problem::shown));
        notes.push("if tests were left out on purpose, `rescore --partial` says so".to_owned());
    }
    notes
}
