//! What changed, for people.

use std::collections::BTreeSet;

use eval_core::report::MetricReport;

use super::again::{Now, Rescored};
use super::{Pair, Rescoring, pairs};
use crate::answer::Outcome;
use crate::recorded::{State, gaps};
use crate::show::{BOLD, ERROR, GOOD, harmless, one_line, styled};
use crate::words::{code_list, count};

pub(super) fn text(rescoring: &Rescoring<'_>) -> String {
    let runs: usize = rescoring.cases.iter().map(|case| case.test.attempt.evaluations.len()).sum();
    let (cases, runs) = (count(rescoring.cases.len(), "case"), count(runs, "run"));
    let mut text = format!("Rescored {}  {cases} · {runs}, no agent was run\n", rescoring.recording.name());
    for case in &rescoring.cases {
        text.push_str(&changes(case));
    }
    text.push_str("──────────\n");
    text.push_str(&summary(rescoring));
    text
}

fn word(state: State) -> String {
    match state {
        State::Passed => styled(GOOD, "PASS"),
        State::Failed => styled(ERROR, "FAIL"),
        State::NotEvaluated => styled(ERROR, "UNSCORED"),
        State::Error => styled(ERROR, "ERROR"),
        State::Skipped => styled(BOLD, "SKIP"),
        State::Unfinished => styled(ERROR, "UNFINISHED"),
    }
}

/// The lines about a case; none where everything is as it was.
fn changes(case: &Rescored<'_>) -> String {
    let name = one_line(&case.test.test.name);
    let (before, now) = (case.test.state, case.state());
    if let Now::Not(reason) = &case.now {
        let reason = harmless(reason).replace('\n', "\n    ");
        return format!("  {} not scored again  {name}\n    {reason}\n", word(State::Error));
    }
    let decided = case.test.attempt.decided.as_ref();
    let pairs = pairs(decided, case.metrics());
    let changed: Vec<String> = pairs.iter().filter_map(|(name, pair)| change(name, *pair)).collect();
    if changed.is_empty() && before == now {
        return String::new();
    }
    let states = if before == now { word(now) } else { format!("{} -> {}", word(before), word(now)) };
    let edited = if case.is_edited { "  (edited since)" } else { "" };
    let mut text = format!("  {states}  {name}{edited}\n");
    for line in changed {
        text.push_str(&format!("    {line}\n"));
    }
    if let Some(reason) = case.reason().filter(|_| now.is_unmeasured()) {
        text.push_str(&format!("    {}\n", harmless(reason).replace('\n', "\n    ")));
    }
    text
}

/// `response_match_score  0.5 -> 0.75, threshold 0.8, FAILED -> passed`; nothing where it is the same.
fn change(name: &str, (before, now): Pair<'_>) -> Option<String> {
    let name = one_line(name);
    let (Some(before), Some(now)) = (before, now) else {
        let only = before.or(now)?;
        let what = if before.is_some() { "no longer a criterion" } else { "a new criterion" };
        return Some(format!("{name}  {}, {what}, {}", score(only), only.verdict));
    };
    let same_score =
        same(before.score, now.score) && (before.scored, before.total) == (now.scored, now.total);
    if same_score && same(before.threshold(), now.threshold()) && before.verdict == now.verdict {
        return None;
    }
    let threshold =
        |metric: &MetricReport| metric.threshold().map_or_else(|| "-".to_owned(), |it| format!("{it:?}"));
    let parts = [
        arrow(&score(before), &score(now)),
        format!("threshold {}", arrow(&threshold(before), &threshold(now))),
        arrow(&before.verdict.to_string(), &now.verdict.to_string()),
    ];
    Some(format!("{name}  {}", parts.join(", ")))
}

/// Bit for bit, so that whatever changed is shown.
pub(super) fn same(before: Option<f64>, now: Option<f64>) -> bool {
    before.map(f64::to_bits) == now.map(f64::to_bits)
}

fn score(metric: &MetricReport) -> String {
    match metric.score {
        Some(score) if metric.scored < metric.total => {
            format!("{score:?} ({}/{} scored)", metric.scored, metric.total)
        }
        Some(score) => format!("{score:?}"),
        None => "-".to_owned(),
    }
}

fn arrow(before: &str, now: &str) -> String {
    if before == now { now.to_owned() } else { format!("{before} -> {now}") }
}

fn summary(rescoring: &Rescoring<'_>) -> String {
    let cases = &rescoring.cases;
    let states = |state: State| {
        let before = cases.iter().filter(|case| case.test.state == state).count();
        let now = cases.iter().filter(|case| case.state() == state).count();
        (before, now)
    };
    let mut parts = Vec::new();
    for (state, one, many) in [
        (State::Passed, "passed", "passed"),
        (State::Failed, "failed", "failed"),
        (State::NotEvaluated, "unscored", "unscored"),
        (State::Error, "error", "errors"),
        (State::Unfinished, "unfinished", "unfinished"),
        (State::Skipped, "skipped", "skipped"),
    ] {
        let (before, now) = states(state);
        if before + now > 0 {
            let what = if now == 1 { one } else { many };
            parts.push(format!("{} {what}", arrow(&before.to_string(), &now.to_string())));
        }
    }
    let mut text = format!(" Summary {}: {}\n", count(cases.len(), "case"), parts.join(", "));
    let changed = cases.iter().filter(|case| !changes(case).is_empty()).count();
    text.push_str(&format!("         {changed}/{} changed\n", count(cases.len(), "case")));
    for note in notes(rescoring) {
        text.push_str(&format!("         note: {note}\n"));
    }
    let outcome = rescoring.outcome();
    let word = match outcome {
        Outcome::Passed => styled(GOOD, "PASSED"),
        Outcome::Failed => styled(ERROR, "FAILED"),
        Outcome::Unmeasurable | Outcome::Other(_) => styled(ERROR, "UNMEASURABLE"),
    };
    text.push_str(&format!("  Result {word} (exit code {})\n", outcome.exit_code()));
    text
}

fn notes(rescoring: &Rescoring<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let kept: BTreeSet<&String> = rescoring.cases.iter().flat_map(|case| &case.kept).collect();
    if !kept.is_empty() {
        let kept: Vec<String> = kept.into_iter().map(|name| one_line(name)).collect();
        notes.push(format!("the recorded scores of {} are kept", code_list(&kept)));
    }
    let own: BTreeSet<&str> = rescoring.cases.iter().flat_map(Rescored::own_under_built_in_names).collect();
    if !own.is_empty() {
        let own: Vec<String> = own.into_iter().map(one_line).collect();
        let names = code_list(&own);
        let what = if own.len() == 1 { "is a metric" } else { "are metrics" };
        notes.push(format!(
            "{names} {what} of your own, which only your tests can run; the built-in is another"
        ));
    }
    let edited = rescoring.cases.iter().filter(|case| case.is_edited).count();
    if edited > 0 {
        notes.push(format!("{} edited since they ran, and scored as they are now", count(edited, "case")));
    }
    notes.extend(gaps(&rescoring.recording.run));
    notes
}
