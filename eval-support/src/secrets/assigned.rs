//! Secrets that a command line assigns: `API_KEY=..` and `--api-key=..`.

use std::borrow::Cow;
use std::ops::Range;

use super::names::{is_harmless, says_secret};

/// The text in place of a value.
const LEFT_OUT: &str = "..";

/// The secret values that a command line assigns, as they are without their quotes.
pub fn assigned(line: &str) -> impl Iterator<Item = &str> {
    ranges(line).into_iter().map(|range| unquoted(&line[range]))
}

/// A command line without the secret values that it assigns: `env API_KEY=.. python3 agent.py`.
pub fn without_assigned(line: &str) -> Cow<'_, str> {
    let ranges = ranges(line);
    if ranges.is_empty() {
        return Cow::Borrowed(line);
    }
    let (mut shown, mut end) = (String::with_capacity(line.len()), 0);
    for range in ranges {
        shown.push_str(&line[end..range.start]);
        shown.push_str(LEFT_OUT);
        end = range.end;
    }
    shown.push_str(&line[end..]);
    Cow::Owned(shown)
}

/// One argument of a program without the secret that it assigns. Its value has no quotes and may have blanks.
pub fn argument_without_assigned(argument: &str) -> Cow<'_, str> {
    match argument.split_once('=') {
        Some((name, value)) if name.chars().all(is_of_name) && is_secret(name, value) => {
            Cow::Owned(format!("{name}={LEFT_OUT}"))
        }
        _ => without_assigned(argument),
    }
}

/// The places of the secret values in a command line.
fn ranges(line: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in line.match_indices('=') {
        if found.last().is_some_and(|last| at < last.end) {
            continue;
        }
        let name = line[..at].rsplit(|c| !is_of_name(c)).next().unwrap_or_default();
        let start = at + 1;
        let range = start..start + length(&line[start..]);
        if is_secret(name, unquoted(&line[range.clone()])) {
            found.push(range);
        }
    }
    found
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// The length of a value at the beginning of a text: up to the end of its quotes, or of its word.
fn length(text: &str) -> usize {
    let quote = text.chars().next().filter(|c| ['\'', '"'].contains(c));
    match quote {
        Some(quote) => text[1..].find(quote).map_or(text.len(), |end| end + 2),
        None => {
            let ends = |c: char| c.is_whitespace() || "'\"`;&|)".contains(c);
            text.find(ends).unwrap_or(text.len())
        }
    }
}

fn unquoted(value: &str) -> &str {
    value.trim_matches(['\'', '"'])
}

/// Whether a value is a secret by its name. A number, a variable and a place for a value are no secrets.
fn is_secret(name: &str, value: &str) -> bool {
    let is_plain = value.chars().all(|c| c.is_ascii_digit()) || value.starts_with(['$', '{']);
    !is_plain && says_secret(name.trim_start_matches('-')) && !is_harmless(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_left_out_by_their_names() {
        for (line, shown, values) in [
            (
                "env OPENAI_API_KEY=hunter2 python3 a.py",
                "env OPENAI_API_KEY=.. python3 a.py",
                &["hunter2"][..],
            ),
            (
                "sh -c 'A_TOKEN=x B=y DB_PASSWORD=\"a b\" ./a'",
                "sh -c 'A_TOKEN=.. B=y DB_PASSWORD=.. ./a'",
                &["x", "a b"],
            ),
            (
                "./a --api-key=k=v --url=http://h/?token=t",
                "./a --api-key=.. --url=http://h/?token=..",
                &["k=v", "t"],
            ),
            ("./a --max-tokens=100 MODEL=x API_KEY_FILE=k KEY={key} KEY=$KEY KEY=", "", &[]),
            ("./a TOKEN=/run/token == =", "", &[]),
        ] {
            let expected = if shown.is_empty() { line } else { shown };
            assert_eq!(without_assigned(line), expected);
            assert_eq!(assigned(line).collect::<Vec<_>>(), values, "{line}");
        }
        assert_eq!(argument_without_assigned("A_TOKEN=a b"), "A_TOKEN=..");
        assert_eq!(argument_without_assigned("TOKEN=a ./b"), "TOKEN=..");
        assert_eq!(argument_without_assigned("run TOKEN=a b"), "run TOKEN=.. b");
        assert_eq!(argument_without_assigned("plain"), "plain");
    }
}
