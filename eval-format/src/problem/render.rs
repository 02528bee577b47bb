//! Problems as rustc would show them: headline, place, snippet, help.
//!
//! rustc's own renderer draws the snippets. It gets a few short lines and never the whole text, so that a file of one
//! line of 20 MB costs no more than any other.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str};

use super::code::Severity;
use super::finding::Problem;

mod pane;
mod place;

use pane::Pane;
pub use place::line_column;

/// The longest sentence that is shown whole. A headline may quote a key as long as a file.
const MAX_SENTENCE_CHARS: usize = 400;

/// A problem as rustc would show it, without the level: rustc puts it in front of the message of a
/// `compile_error!`.
///
/// ```
/// use eval_format::EvalSet;
/// use eval_format::problem::render;
///
/// let text = r#"{"eval_set_id": "s", "eval_cases": []}"#;
/// let problems = EvalSet::parse(text).unwrap_err();
/// let shown = render(problems.iter().next().unwrap(), "evals/weather.evalset.json", text);
/// assert_eq!(shown.lines().nth(1), Some(" --> evals/weather.evalset.json:1:36"));
/// ```
///
/// The first line is the headline, and the second the place, where editors and terminals look for it. Then
/// follow the line with a caret and the label, related places, and the remedy. The text has no colours and
/// does not end in a line break. Ranges outside of the text are clamped. If a range has several lines, its
/// first line is shown. A long line is cut to the part around the range.
pub fn render(problem: &Problem, file: &str, text: &str) -> String {
    let panes = pane::of(problem, text);
    let gutter = panes.iter().map(Pane::last_line).max().map_or(1, digits);
    let margin = " ".repeat(gutter);
    let file = one_line(file);

    let mut lines = vec![one_line(&problem.message)];
    for (at, pane) in panes.iter().enumerate() {
        if at > 0 {
            lines.push(format!("{margin} |"));
        }
        let (line, column) = pane.place;
        // rustc begins further places with `:::`, which CI services take for a command.
        lines.push(format!("{margin}--> {file}:{line}:{column}"));
        let indent = " ".repeat(gutter - digits(pane.last_line()));
        lines.extend(draw(pane).lines().map(|line| format!("{indent}{line}")));
    }
    let notes = notes(problem, &panes);
    if !notes.is_empty() {
        lines.push(format!("{margin} |"));
        lines.extend(notes.iter().map(|note| format!("{margin} = {note}")));
    }
    lines.join("\n")
}

/// A problem as rustc would show it, with `error: ` or `warning: ` in front.
///
/// See [`render`] for the rest.
pub fn render_with_level(problem: &Problem, file: &str, text: &str) -> String {
    let level = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    format!("{level}: {}", render(problem, file, text))
}

fn draw(pane: &Pane) -> String {
    let annotations = pane.marks.iter().map(|mark| {
        let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let label = (!mark.label.is_empty()).then(|| one_line(&mark.label));
        kind.span(mark.range.clone()).label(label)
    });
    let snippet = Snippet::source(pane.source.as_str()).line_start(pane.first_line).annotations(annotations);
    Renderer::plain().render(&[Group::with_level(Level::ERROR).element(snippet)])
}

fn notes(problem: &Problem, panes: &[Pane]) -> Vec<String> {
    let mut notes = Vec::new();
    // A column of 100,000 is hard to find; the path helps.
    if panes.first().is_some_and(|pane| pane.cut) && !problem.path.steps().is_empty() {
        notes.push(format!("note: at `{}`", one_line(&problem.path.to_string())));
    }
    let hidden = problem.related.len().saturating_sub(pane::MAX_RELATED_PLACES);
    if hidden > 0 {
        notes.push(format!("note: and {hidden} more such place{}", if hidden == 1 { "" } else { "s" }));
    }
    notes.extend(problem.help.as_ref().map(|help| format!("help: {}", one_line(help))));
    notes
}

/// A sentence without line breaks and control characters, cut if it is very long.
fn one_line(sentence: &str) -> String {
    let mut kept: String = sentence
        .chars()
        .take(MAX_SENTENCE_CHARS)
        .map(|c| match c {
            '\n' | '\r' | '\t' => ' ',
            // Terminals obey these, and `normalize_untrusted_str` does not replace them.
            '\u{80}'..='\u{9f}' => char::REPLACEMENT_CHARACTER,
            _ => c,
        })
        .collect();
    if sentence.chars().nth(MAX_SENTENCE_CHARS).is_some() {
        kept.push_str("...");
    }
    normalize_untrusted_str(&kept)
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

#[cfg(test)]
mod tests;
