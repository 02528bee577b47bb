//! A summary for a pull request.

use eval_support::untrusted::{fenced, markdown as escaped};
use eval_support::words::count;

use crate::recorded::{RunResults, TestResult};
use crate::summary_text;

pub fn text(results: &RunResults<'_>) -> String {
    let mut text =
        format!("{MARKER}\n### {}\n\n{}\n", title(results), escaped(&summary_text::counts(results)));
    let lines = summary_text::numbers(results).into_iter().chain(summary_text::notes(results));
    text.extend(lines.map(|line| format!("- {}\n", escaped(&line))));
    text.push_str(&table(results));
    let mut hidden = 0;
    for test in results.needing_attention() {
        let details = details(test);
        if text.len() + details.len() > MAX_COMMENT_BYTES {
            hidden += 1;
        } else {
            text.push_str(&details);
        }
    }
    if hidden > 0 {
        let cases = count(hidden, "more case");
        text.push_str(&format!("\n{cases} that did not pass: the report of the job has the details.\n"));
    }
    let times = summary_text::times(results).map(|times| format!(", {times}")).unwrap_or_default();
    text.push_str(&format!("\n<sub>run {}{times}</sub>\n", escaped(&results.loaded.name())));
    text
}

/// Marks the comment, so that a workflow finds its own comment again.
const MARKER: &str = "<!-- cargo-evalset report -->";

/// A comment on GitHub has 65,536 characters at most.
const MAX_COMMENT_BYTES: usize = 60_000;
const MAX_TABLE_BYTES: usize = 30_000;
const MAX_FAILURE_BYTES: usize = 6_000;

fn title(results: &RunResults<'_>) -> String {
    format!("Evals {}: {}", results.totals.outcome().name(), escaped(&results.totals.reason()))
}

/// The cases that did not pass, or not in every run.
fn table(results: &RunResults<'_>) -> String {
    let needs_a_row = |test: &&TestResult<'_>| test.needs_attention() || test.runs.are_flaky();
    let mut rows = results.tests.iter().filter(needs_a_row).peekable();
    let mut problems = results.problems.iter().peekable();
    if rows.peek().is_none() && problems.peek().is_none() {
        return String::new();
    }
    let mut text = "\n| | case | runs | why |\n| --- | --- | --- | --- |\n".to_owned();
    while let Some(test) = rows.next_if(|_| text.len() < MAX_TABLE_BYTES) {
        let (word, _) = summary_text::word(test);
        let (name, runs) = (escaped(&test.name), escaped(&summary_text::runs(test)));
        let reason = escaped(&test.reason().unwrap_or_default());
        text.push_str(&format!("| {word} | {name} | {runs} | {reason} |\n"));
    }
    while let Some(problem) = problems.next_if(|_| text.len() < MAX_TABLE_BYTES) {
        let (name, message) = (escaped(&problem.name), escaped(&problem.message));
        text.push_str(&format!("| ERROR | {name} | - | {message} |\n"));
    }
    let more = rows.count() + problems.count();
    if more > 0 {
        text.push_str(&format!("\n... and {}.\n", count(more, "more case")));
    }
    text
}

fn details(test: &TestResult<'_>) -> String {
    let text = fenced(&cut(&summary_text::details(test)));
    let name = escaped(&test.name);
    format!("\n<details><summary>{name}</summary>\n\n{text}\n\n</details>\n")
}

fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_FAILURE_BYTES);
    if end == text.len() { text.to_owned() } else { format!("{}\n...", &text[..end]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_on_a_character() {
        let text = "é".repeat(MAX_FAILURE_BYTES);
        assert!(cut(&text).len() <= MAX_FAILURE_BYTES + 4);
        assert_eq!(cut("short"), "short");
    }
}
