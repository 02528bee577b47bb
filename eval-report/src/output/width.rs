//! Fitting text for people into a narrow terminal.

use std::env;

/// The columns of standard output: the value of `COLUMNS`, else the width of the terminal; `None` if it is no terminal.
pub fn columns() -> Option<usize> {
    let named = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    named
        .or_else(|| Some(usize::from(terminal_size::terminal_size_of(std::io::stdout())?.0.0)))
        .filter(|columns| *columns > 0)
}

/// A text with its lines wrapped between words to the width of the terminal.
pub fn fitted(text: String) -> String {
    match columns() {
        Some(columns) => wrapped(&text, columns),
        None => text,
    }
}

/// Breaks lines between words. The following lines are indented a little more. A longer word stays whole.
fn wrapped(text: &str, columns: usize) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| line_wrapped(line, columns)).collect();
    lines.join("\n")
}

fn line_wrapped(line: &str, columns: usize) -> String {
    if shown_width(line) <= columns {
        return line.to_owned();
    }
    let first = (line.len() - line.trim_start_matches(' ').len()).min(columns / 4);
    let further = first + 2;
    let mut out = " ".repeat(first);
    let mut at = first;
    let mut is_first = true;
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let width = shown_width(word);
        if is_first {
            is_first = false;
        } else if at + 1 + width > columns {
            out.push('\n');
            out.push_str(&" ".repeat(further));
            at = further;
        } else {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += width;
    }
    out
}

/// The columns that a text takes. Styles take none, and wide characters of some scripts count as one.
fn shown_width(text: &str) -> usize {
    let mut width = 0;
    let mut in_style = false;
    for c in text.chars() {
        match c {
            '\u{1b}' => in_style = true,
            'm' if in_style => in_style = false,
            _ if in_style => {}
            _ => width += 1,
        }
    }
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        let text = "  one two three four\nshort\n    \u{1b}[1mPASS\u{1b}[0m a_word_that_is_too_long_for_it x";
        let expected = "  one two\n    three\n    four\nshort\n  \u{1b}[1mPASS\u{1b}[0m\n    a_word_that_is_too_long_for_it\n    x";
        assert_eq!(wrapped(text, 10), expected);
        assert_eq!(wrapped(text, 100), text);
        // A line may be as long as the terminal is wide.
        assert_eq!(
            (wrapped("one two", 7), wrapped("one two", 6)),
            ("one two".to_owned(), "one\n  two".to_owned())
        );
        assert_eq!(wrapped("one two three", 7), "one two\n  three");
        assert_eq!(wrapped("a  b", 4), "a  b", "a line that fits keeps its spaces");
        let styled = "\u{1b}[1mone\u{1b}[0m two";
        assert_eq!(wrapped(styled, 7), styled, "a style takes no column");
        for columns in 1..60 {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&wrapped(text, columns)), words(text), "{columns}");
        }
    }
}
