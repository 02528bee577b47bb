//! The report for people: a line for each case, the totals, and then what failed.

use anstyle::Style;
use eval_core::report::{Verdict, short};
use eval_support::untrusted::one_line;
use eval_support::words::{count, tokens};

use crate::output::{BOLD, styled, width};
use crate::recorded::{Retry, RunResults, State, TestResult, Totals, near};
use crate::summary_text::{self, counts, details, have, notes, numbers, rerun, runs, times, word};

pub fn text(results: &RunResults<'_>) -> String {
    body(results, |test| new_golden(results, test)) + &commands(results)
}

/// The report without the commands at its end. `next` is the lines with commands below a case that did not pass.
pub fn body(results: &RunResults<'_>, next: impl Fn(&TestResult<'_>) -> Option<String>) -> String {
    let mut text = head(results);
    let widest = results.tests.iter().map(|test| test.name.chars().count()).max().unwrap_or_default();
    let column =
        widest.min(width::columns().map_or(MAX_NAME_COLUMNS, |columns| columns / 2).min(MAX_NAME_COLUMNS));
    text.extend(results.tests.iter().map(|test| line(test, column)));
    text.push_str("──────────\n");
    text.push_str(&summary(&first_line(results), numbers(results), notes(results), &results.totals));
    // Outputs of tests and commands are not wrapped: people read and copy them as they are.
    text = width::fitted(text);
    text.push_str(&failures(results, next));
    text
}

/// The widest column of names. The lines of longer names are not aligned.
const MAX_NAME_COLUMNS: usize = 60;

/// The width of the column of states and labels, which are aligned to the right.
const LABEL_COLUMNS: usize = 10;

fn label(style: Style, word: &str) -> String {
    format!("{}{}", " ".repeat(LABEL_COLUMNS.saturating_sub(word.len())), styled(style, word))
}

fn head(results: &RunResults<'_>) -> String {
    let sets: std::collections::BTreeSet<_> =
        results.tests.iter().filter_map(|test| test.attempt.started.eval_set_id.as_deref()).collect();
    let run = label(BOLD, "Run");
    let name = if results.loaded.is_recorded() { results.loaded.name() + "  " } else { String::new() };
    let (sets, cases) = (count(sets.len(), "set"), count(results.totals.cases, "case"));
    let mut text = format!("{run} {name}{sets} · {cases} · {}\n", count(results.totals.runs, "run"));
    if let Some(times) = times(results) {
        text.push_str(&format!("{} {times}\n", " ".repeat(LABEL_COLUMNS)));
    }
    text
}

/// `PASS [   1.2s] weather::sunny  3/3  response_match_score 0.91`.
fn line(test: &TestResult<'_>, width: usize) -> String {
    let (word, style) = word(test);
    let name = one_line(&test.name);
    let pad = " ".repeat(width.saturating_sub(name.chars().count()));
    let seconds = test.elapsed().as_secs_f64();
    let mut line = format!("{} [{seconds:>6.1}s] {name}{pad}  {}", label(style, word), runs(test));
    match test.state {
        State::Passed | State::Failed => line.push_str(&metrics(test)),
        _ => line.push_str(&format!("  {}", one_line(&test.reason().unwrap_or_default()))),
    }
    if test.state == State::Passed {
        taken_out(test).for_each(|note| line.push_str(&format!("  ({})", one_line(note))));
    }
    if let Some(total) = test.usage().agent_tokens {
        line.push_str(&format!("  {}", tokens(total)));
    }
    if let Some(Retry { failed, attempt }) = test.retry() {
        line.push_str(&format!("  (attempt {attempt}, {} before it did not pass)", count(failed, "attempt")));
    }
    line.push('\n');
    line
}

/// The notes on metrics that the case itself takes out with `null`. A failure has all of its notes.
fn taken_out<'t>(test: &'t TestResult<'_>) -> impl Iterator<Item = &'t str> {
    let notes = test.attempt.decided.iter().flat_map(|decided| &decided.notes).map(String::as_str);
    notes.filter(|note| note.starts_with("`_criteria` of this case: ") && note.contains(": null"))
}

fn metrics(test: &TestResult<'_>) -> String {
    let mut text = String::new();
    for metric in test.deciding() {
        let name = one_line(&metric.name);
        match metric.score.filter(|_| !matches!(metric.verdict, Verdict::Skipped(_))) {
            Some(score) => text.push_str(&format!("  {name} {}", short(score, metric.bound()))),
            None => text.push_str(&format!("  {name} {}", metric.verdict)),
        }
        if let (Some(passed), Some(bound)) = (metric.passed_runs, metric.bound()) {
            let runs = count(test.runs.total, "run");
            text.push_str(&format!(" ({bound} {} in {passed} of {runs})", bound.reached()));
        }
        if let Some(loosened) = metric.loosened_text() {
            text.push_str(&format!(" ({loosened})"));
        }
        if metric.scored < metric.total {
            text.push_str(&format!(" ({}/{} scored)", metric.scored, metric.total));
        }
    }
    text
}

/// `[   1.2s] 12 cases: 8 passed, 4 failed · 12/12 runs have a verdict`.
fn first_line(results: &RunResults<'_>) -> String {
    let totals = &results.totals;
    let (seconds, counts) = (totals.elapsed.as_secs_f64(), counts(results));
    let (judged, runs, have) = (totals.runs_with_verdict, count(totals.runs, "run"), have(totals.runs));
    format!("[{seconds:>6.1}s] {counts} · {judged}/{runs} {have} a verdict")
}

/// The summary of a run and its result: all commands end with it.
pub fn summary(
    first: &str,
    more: impl IntoIterator<Item = String>,
    notes: impl IntoIterator<Item = String>,
    totals: &Totals,
) -> String {
    let mut shown = format!("{} {first}\n", label(BOLD, "Summary"));
    let notes = notes.into_iter().map(|note| format!("note: {note}"));
    shown.extend(more.into_iter().chain(notes).map(|line| format!("{} {line}\n", " ".repeat(LABEL_COLUMNS))));
    let outcome = totals.outcome();
    let (head, word, code) = (label(BOLD, "Result"), outcome.shown(), outcome.exit_code());
    shown.push_str(&format!("{head} {word}  {} (exit code {code})\n", totals.reason()));
    shown
}

fn failures(results: &RunResults<'_>, next: impl Fn(&TestResult<'_>) -> Option<String>) -> String {
    let mut text = String::new();
    for test in results.needing_attention().take(MAX_FAILURES) {
        text.push_str(&format!("\n---- {} ----\n{}\n", one_line(&test.name), details(test)));
        if let Some(lines) = next(test) {
            text.push_str(&format!("\n{lines}"));
        }
    }
    let more = results.needing_attention().count().saturating_sub(MAX_FAILURES);
    if more > 0 {
        let cases = count(more, "more case");
        text.push_str(&format!("\n... and {cases} that did not pass; `--json FILE` writes all of them\n"));
    }
    text
}

/// The most failures in the text. More of them are unreadable on a terminal.
const MAX_FAILURES: usize = 50;

/// The line with the command that puts what happened in place of the golden of a case. The output of a test has it already.
pub fn new_golden(results: &RunResults<'_>, test: &TestResult<'_>) -> Option<String> {
    Some(format!("new golden    {}\n", summary_text::new_golden(results, test)?))
}

/// The commands that run tests again, and the folders of the run.
fn commands(results: &RunResults<'_>) -> String {
    let mut lines: Vec<String> =
        rerun(results).iter().map(|again| format!("run again     {}\n", again.command)).collect();
    lines.extend(summary_text::review(results, false));
    for folder in &results.loaded.folders {
        lines.push(format!("whole record  {}\n", one_line(&near(folder).display().to_string())));
    }
    format!("\n{}", lines.concat())
}
