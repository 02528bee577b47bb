//! A summary for a pull request.

use super::{Report, human};
use crate::answer::{Outcome, Refusal};
use crate::recorded::Recorded;
use crate::show::{harmless, one_line};
use crate::words::count;

#[expect(clippy::unnecessary_wraps, reason = "one of several forms, the others of which can fail")]
pub(super) fn text(report: &Report<'_>) -> Result<String, Refusal> {
    let mut text = format!("{MARKER}\n### {}\n\n{}\n", title(report), escaped(&human::counts(report)));
    let repetition = report.over_cases.map(|over| human::repetition(over, report.totals.cases));
    let lines = [human::rate(report), repetition, human::usage(report.totals.usage)];
    for line in lines.into_iter().flatten().chain(human::notes(report)) {
        text.push_str(&format!("- {}\n", escaped(&line)));
    }
    text.push_str(&table(report));
    let mut hidden = 0;
    for test in report.troubled() {
        let details = details(test);
        if text.len() + details.len() > LONGEST {
            hidden += 1;
        } else {
            text.push_str(&details);
        }
    }
    if hidden > 0 {
        text.push_str(&format!(
            "\n{} that did not pass: the report of the job has the details.\n",
            count(hidden, "more case")
        ));
    }
    text.push_str(&format!("\n<sub>run {}</sub>\n", escaped(&report.recording.name())));
    Ok(text)
}

/// By which a workflow finds its comment again.
const MARKER: &str = "<!-- cargo-evalset report -->";

/// A comment on GitHub has 65,536 characters at most.
const LONGEST: usize = 60_000;
/// Half of it for the table.
const LONGEST_TABLE: usize = 30_000;
/// What one failure may take of it.
const LONGEST_FAILURE: usize = 6_000;

fn title(report: &Report<'_>) -> String {
    let word = match report.totals.outcome() {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::Unmeasurable | Outcome::Other(_) => "unmeasurable",
    };
    format!("Evals {word}: {}", escaped(&report.totals.reason()))
}

/// The cases that did not pass, or did not always; a table of what is fine says nothing.
fn table(report: &Report<'_>) -> String {
    let mut rows = report.tests.iter().filter(|test| test.is_trouble() || test.runs.are_flaky()).peekable();
    if rows.peek().is_none() {
        return String::new();
    }
    let mut text = "\n| | case | runs | why |\n| --- | --- | --- | --- |\n".to_owned();
    while let Some(test) = rows.next_if(|_| text.len() < LONGEST_TABLE) {
        let (word, _) = human::word(test);
        let (name, runs) = (escaped(&one_line(&test.test.name)), escaped(&human::runs(test)));
        text.push_str(&format!("| {word} | {name} | {runs} | {} |\n", escaped(&one_line(&test.headline()))));
    }
    let more = rows.count();
    if more > 0 {
        text.push_str(&format!("\n... and {}.\n", count(more, "more case")));
    }
    text
}

fn details(test: &Recorded<'_>) -> String {
    let text = cut(&human::details(test));
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    let name = escaped(&one_line(&test.test.name));
    format!("\n<details><summary>{name}</summary>\n\n{fence}text\n{text}\n{fence}\n\n</details>\n")
}

fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST_FAILURE);
    if end == text.len() { text.to_owned() } else { format!("{}\n...", &text[..end]) }
}

fn longest_run(text: &str, of: char) -> usize {
    let mut runs = (0, 0);
    for c in text.chars() {
        runs.1 = if c == of { runs.1 + 1 } else { 0 };
        runs.0 = runs.0.max(runs.1);
    }
    runs.0
}

/// A text of one line in which nothing is markup: transcripts are written by models.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in harmless(text).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\n' | '\t' => escaped.push(' '),
            // A mention would call somebody.
            '@' => escaped.push_str("&#64;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_says_is_no_markup() {
        assert_eq!(
            escaped("a|b\n</details><script> @all [x](y) #1"),
            "a\\|b &lt;/details&gt;&lt;script&gt; &#64;all \\[x\\](y) \\#1"
        );
    }

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(longest_run("a ```` b ``", '`'), 4);
        assert_eq!(longest_run("", '`'), 0);
    }

    #[test]
    fn a_long_text_is_cut_on_a_character() {
        let text = "é".repeat(LONGEST_FAILURE);
        assert!(cut(&text).len() <= LONGEST_FAILURE + 4);
        assert_eq!(cut("short"), "short");
    }
}
