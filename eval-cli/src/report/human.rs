//! The report for people: a line for each case, what they come to, and then what failed.

use clap::builder::styling::Style;

use super::Report;
use crate::answer::Outcome;
use crate::recorded::{OverCases, Recorded, Runs, State, Usage, gaps};
use crate::runs::near;
use crate::show::{BOLD, ERROR, GOOD, WARNING, harmless, one_line, styled};
use crate::words::count;

pub(super) fn text(report: &Report<'_>) -> String {
    let mut text = head(report);
    let width = report.tests.iter().map(|test| shown_width(&test.test.name)).max().unwrap_or_default();
    for test in &report.tests {
        text.push_str(&line(test, width.min(WIDEST)));
    }
    text.push_str("──────────\n");
    text.push_str(&summary(report));
    text.push_str(&failures(report));
    text.push_str(&commands(report));
    text
}

/// Longer names push the rest of their own lines to the right.
const WIDEST: usize = 60;

/// Words of states and labels stand right-aligned in so many columns.
const LABEL: usize = 10;

fn label(style: Style, word: &str) -> String {
    format!("{}{}", " ".repeat(LABEL.saturating_sub(word.len())), styled(style, word))
}

fn head(report: &Report<'_>) -> String {
    let sets: std::collections::BTreeSet<_> =
        report.tests.iter().map(|test| &test.attempt.started.eval_set_id).collect();
    let run = label(BOLD, "Run");
    let name = report.recording.name();
    let (sets, cases) = (count(sets.len(), "set"), count(report.totals.cases, "case"));
    format!("{run} {name}  {sets} · {cases} · {}\n", count(report.totals.runs, "run"))
}

/// The word for a state. A case that passed although some of its runs did not says so.
pub(super) fn word(test: &Recorded<'_>) -> (&'static str, Style) {
    match test.state {
        State::Passed if test.runs.are_flaky() => ("FLAKY", WARNING),
        State::Passed => ("PASS", GOOD),
        State::Failed => ("FAIL", ERROR),
        State::NotEvaluated => ("UNSCORED", ERROR),
        State::Error => ("ERROR", ERROR),
        State::Skipped => ("SKIP", WARNING),
        State::Unfinished => ("UNFINISHED", ERROR),
    }
}

/// `PASS [   1.2s] weather::sunny  3/3  response_match_score 0.91`.
fn line(test: &Recorded<'_>, width: usize) -> String {
    let (word, style) = word(test);
    let name = one_line(&test.test.name);
    let pad = " ".repeat(width.saturating_sub(shown_width(&name)));
    let mut line = format!(
        "{} [{:>6.1}s] {name}{pad}  {}",
        label(style, word),
        test.elapsed().as_secs_f64(),
        runs(test)
    );
    match test.state {
        State::Passed | State::Failed => line.push_str(&metrics(test)),
        _ => line.push_str(&format!("  {}", one_line(&test.headline()))),
    }
    if let Some(total) = test.usage().agent.count {
        line.push_str(&format!("  {}", tokens(total)));
    }
    if let Some((failed, attempt)) = test.retried() {
        line.push_str(&format!("  (attempt {attempt}, {} before it did not pass)", count(failed, "attempt")));
    }
    line.push('\n');
    line
}

/// `2/3 flaky`: runs that passed of all runs.
pub(super) fn runs(test: &Recorded<'_>) -> String {
    let Runs { total, ran, judged, .. } = test.runs;
    let mut text = match total {
        0 => "-".to_owned(),
        _ => test.runs.tally().to_string(),
    };
    if test.runs.are_flaky() {
        text.push_str(" flaky");
    }
    if ran < total {
        text.push_str(&format!(" ({ran}/{total} ran)"));
    } else if judged < total {
        text.push_str(&format!(" ({judged}/{total} {} a verdict)", have(total)));
    }
    text
}

fn have(number: usize) -> &'static str {
    if number == 1 { "has" } else { "have" }
}

/// The metrics that gate, with as many digits as it takes to see on which side of the threshold they are.
fn metrics(test: &Recorded<'_>) -> String {
    let mut text = String::new();
    for metric in test.gating() {
        let name = one_line(&metric.name);
        match metric.score {
            Some(score) => text.push_str(&format!("  {name} {}", short(score, metric.threshold()))),
            None => text.push_str(&format!("  {name} {}", metric.verdict)),
        }
        if metric.scored < metric.total {
            text.push_str(&format!(" ({}/{} scored)", metric.scored, metric.total));
        }
    }
    text
}

/// Two digits after the point, or all of them where two would show a score below its threshold as equal to it.
pub(super) fn short(score: f64, threshold: Option<f64>) -> String {
    let text = format!("{score:.2}");
    let shown: f64 = text.parse().unwrap_or(score);
    let misleads = threshold.is_some_and(|threshold| (shown >= threshold) != (score >= threshold));
    if misleads { format!("{score:?}") } else { text }
}

fn summary(report: &Report<'_>) -> String {
    let totals = &report.totals;
    let mut lines = vec![(
        label(BOLD, "Summary"),
        format!(
            "[{:>6.1}s] {} · {}/{} {} a verdict",
            totals.elapsed.as_secs_f64(),
            counts(report),
            totals.judged,
            count(totals.runs, "run"),
            have(totals.runs)
        ),
    )];
    let mut more = |text: String| lines.push((" ".repeat(LABEL), text));
    if let Some(rate) = rate(report) {
        more(rate);
    }
    if let Some(over) = report.over_cases {
        more(repetition(over, totals.cases));
    }
    if let Some(usage) = usage(totals.usage) {
        more(usage);
    }
    for note in notes(report) {
        more(format!("note: {note}"));
    }
    let outcome = totals.outcome();
    let (word, style) = match outcome {
        Outcome::Passed => ("PASSED", GOOD),
        Outcome::Failed => ("FAILED", ERROR),
        Outcome::Unmeasurable | Outcome::Other(_) => ("UNMEASURABLE", ERROR),
    };
    let word = styled(style, word);
    lines.push((
        label(BOLD, "Result"),
        format!("{word}  {} (exit code {})", totals.reason(), outcome.exit_code()),
    ));
    let mut shown = String::new();
    for (label, text) in lines {
        shown.push_str(&format!("{label} {text}\n"));
    }
    shown
}

/// `12 cases: 8 passed (1 flaky), 1 failed`.
pub(super) fn counts(report: &Report<'_>) -> String {
    let totals = &report.totals;
    let mut parts = vec![format!("{} passed", totals.passed)];
    let flaky = report.tests.iter().filter(|it| it.state == State::Passed && it.runs.are_flaky()).count();
    if flaky > 0 {
        parts[0].push_str(&format!(" ({flaky} flaky)"));
    }
    for (number, what) in [
        (totals.failed, "failed"),
        (totals.not_evaluated, "unscored"),
        (totals.errors, if totals.errors == 1 { "error" } else { "errors" }),
        (totals.unfinished, "unfinished"),
        (totals.skipped, "skipped"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    }
    format!("{}: {}", count(totals.cases, "case"), parts.join(", "))
}

/// The pass rate over the cases with its interval, and what that means.
pub(super) fn rate(report: &Report<'_>) -> Option<String> {
    let tally = report.totals.tally();
    let (rate, interval) = (tally.rate()?, tally.interval()?);
    Some(format!(
        "pass rate {tally} = {:.0}% of cases; so many place the rate of all such cases in {interval} (95% interval, Wilson)",
        rate * 100.0
    ))
}

/// pass@k and pass^k, and what they mean.
pub(super) fn repetition(over: OverCases, of: usize) -> String {
    let OverCases { k, pass_at, pass_all, cases } = over;
    format!(
        "pass@{k} {pass_at:.2} (one of {} passes), pass^{k} {pass_all:.2} (all {k} pass): unbiased, mean of {cases}/{}",
        count(k, "run"),
        count(of, "case")
    )
}

pub(super) fn usage(usage: Usage) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(tokens) = usage.agent.count {
        parts.push(format!("agent {}", self::tokens(tokens)));
    }
    if usage.asked > 0 {
        let tokens = usage.judge.count.map_or_else(|| "unknown tokens".to_owned(), tokens);
        parts.push(format!("judges {}{}, {tokens}", count(usage.asked, "question"), answers(usage)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// ` (10 replayed, 2 asked)`: what became of the questions to judges, as far as it is known.
fn answers(usage: Usage) -> String {
    let mut parts = Vec::new();
    if let Some(replayed) = usage.replayed() {
        let asked = usage.asked.saturating_sub(replayed).saturating_sub(usage.unanswered);
        parts.extend([format!("{replayed} replayed"), format!("{asked} asked")]);
    }
    if usage.unanswered > 0 {
        parts.push(format!("{} without an answer", usage.unanswered));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// What makes the numbers less than they seem.
pub(super) fn notes(report: &Report<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if report.totals.retried > 0 {
        notes.push(format!(
            "{} passed only when the runner tried again; retries hide failures, `runs = ..` and `pass = ..` count them",
            count(report.totals.retried, "case")
        ));
    }
    if report.totals.unfinished > 0 {
        notes.push(
            "tests that a killed process never began are in no record; `rerun --unfinished` finds those of the same sets"
                .to_owned(),
        );
    }
    notes.extend(gaps(&report.recording.run));
    notes
}

/// What the tests printed that did not pass.
fn failures(report: &Report<'_>) -> String {
    let mut text = String::new();
    for test in report.troubled().take(MOST_FAILURES) {
        text.push_str(&format!("\n---- {} ----\n{}\n", one_line(&test.test.name), details(test)));
    }
    let more = report.troubled().count().saturating_sub(MOST_FAILURES);
    if more > 0 {
        text.push_str(&format!(
            "\n... and {} that did not pass; `--json FILE` has all of them\n",
            count(more, "more case")
        ));
    }
    text
}

/// More of them nobody reads on a terminal.
const MOST_FAILURES: usize = 50;

/// What a test printed, or why it printed nothing.
pub(super) fn details(test: &Recorded<'_>) -> String {
    match &test.attempt.decided {
        Some(decided) if !decided.failure.is_empty() => harmless(decided.failure.trim_end()),
        _ => {
            let place = test.place().map(|(file, line, column)| format!("\n  --> {file}:{line}:{column}"));
            harmless(&format!("{}{}", test.headline(), place.unwrap_or_default()))
        }
    }
}

/// What to do next.
fn commands(report: &Report<'_>) -> String {
    let totals = &report.totals;
    let named = report.recording.asked_for();
    let mut text = String::new();
    for (number, flag) in [
        (totals.failed, "failed"),
        (totals.errors + totals.not_evaluated, "errors"),
        (totals.unfinished, "unfinished"),
    ] {
        if number > 0 {
            text.push_str(&format!("run again     cargo evalset rerun {named}--{flag}\n"));
        }
    }
    if !text.is_empty() {
        text.insert(0, '\n');
    }
    for folder in &report.recording.folders {
        let folder = one_line(&near(folder).display().to_string());
        text.push_str(&format!("{}whole record  {folder}\n", if text.is_empty() { "\n" } else { "" }));
    }
    text
}

/// `12,345 tokens`.
pub(crate) fn tokens(number: i128) -> String {
    format!("{} {}", grouped(number), if number == 1 { "token" } else { "tokens" })
}

/// `12,345`.
fn grouped(number: i128) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 { "-".to_owned() } else { String::new() };
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Names are identifiers, of which each character takes a column or, in some scripts, two; that is near enough.
fn shown_width(name: &str) -> usize {
    name.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_below_its_threshold_never_looks_like_it() {
        for (score, threshold, expected) in [
            (0.912, Some(0.8), "0.91"),
            (0.7999, Some(0.8), "0.7999"),
            (0.8, Some(0.8), "0.80"),
            (0.846, Some(0.85), "0.846"),
            (1.0, None, "1.00"),
        ] {
            assert_eq!(short(score, threshold), expected);
        }
    }

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!([0, 999, 1000, -1_234_567].map(grouped), ["0", "999", "1,000", "-1,234,567"]);
        assert_eq!([0, 1, 1000].map(tokens), ["0 tokens", "1 token", "1,000 tokens"]);
    }
}
