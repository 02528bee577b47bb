//! Problems and refusals as a terminal shows them.

use clap::builder::styling::{AnsiColor, Style};
use eval_format::{Problem, render};

use crate::answer::Refusal;
use crate::words::count;

/// How many problems of one file are shown; after so many, mending the first helps more than seeing the rest.
const MOST_SHOWN: usize = 20;

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const BOLD: Style = Style::new().bold();

/// A word in a style.
pub(crate) fn styled(style: Style, word: &str) -> String {
    format!("{style}{word}{style:#}")
}

/// The problems of one file as the compiler shows them, errors first, each followed by an empty line.
pub(crate) fn problems<'p>(file: &str, text: &str, problems: impl Iterator<Item = &'p Problem>) -> String {
    let (errors, warnings): (Vec<_>, Vec<_>) = problems.partition(|problem| problem.is_error());
    let mut shown = String::new();
    for problem in errors.iter().chain(&warnings).take(MOST_SHOWN) {
        let level = if problem.is_error() { styled(ERROR, "error") } else { styled(WARNING, "warning") };
        shown.push_str(&format!("{level}: {}\n\n", render(problem, file, text)));
    }
    let hidden = (errors.len() + warnings.len()).saturating_sub(MOST_SHOWN);
    if hidden > 0 {
        shown.push_str(&format!("... and {} in `{}`\n\n", count(hidden, "more problem"), one_line(file)));
    }
    shown
}

/// A refusal as cargo shows its own errors.
pub(crate) fn refusal(refusal: &Refusal) -> String {
    let level = styled(ERROR, "error");
    format!("{level}: {}\n  = help: {}\n", one_line(&refusal.message), one_line(&refusal.help))
}

/// A text without line breaks and other characters that a terminal obeys; the name of a file may hold any.
pub(crate) fn one_line(text: &str) -> String {
    let obeyed = |c: char| c.is_control() || is_directional(c);
    text.chars().map(|c| if obeyed(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// A text of several lines that somebody else wrote, without what a terminal obeys: escape sequences, and characters
/// that change the direction of what follows.
pub(crate) fn harmless(text: &str) -> String {
    let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t' || is_directional(c);
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| if obeyed(c) { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// Whether a character turns around how the rest of its line is shown.
pub(crate) fn is_directional(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use eval_format::check_set;

    use super::*;

    #[test]
    fn after_twenty_problems_the_rest_is_counted() {
        let text = format!(r#"{{"eval_set_id": "s", "eval_cases": [{}]}}"#, vec!["1"; 25].join(","));
        let checked = check_set("s.evalset.json", text.as_bytes(), None);
        let shown = problems("s.evalset.json", &text, checked.problems.iter());
        assert_eq!(shown.matches("--> s.evalset.json").count(), 20);
        assert!(shown.ends_with("... and 5 more problems in `s.evalset.json`\n\n"), "{shown}");
    }

    #[test]
    fn a_name_is_not_obeyed() {
        assert_eq!(one_line("a\u{1b}[2Jb\nc"), "a\u{fffd}[2Jb\u{fffd}c");
        assert_eq!(harmless("a\u{1b}[2Jb\r\n\tc\u{202e}d\u{9b}"), "a\u{fffd}[2Jb\n\tc\u{fffd}d\u{fffd}");
    }
}
