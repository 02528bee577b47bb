//! A command in parts that are not broken at the end of a line.

use std::ops::Range;

/// The parts of a command: words, and options with the value behind them. The script of the page cuts in the same way.
pub fn command_words(command: &str) -> Vec<&str> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for word in words(command) {
        match parts.last_mut() {
            Some(last) if is_option(&command[last.clone()]) => last.end = word.end,
            _ => parts.push(word),
        }
    }
    parts.into_iter().map(|part| &command[part]).collect()
}

/// The words, each as it is written: a blank between quotes belongs to its word.
fn words(command: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut begin, mut is_quoted, mut is_escaped) = (0, false, false);
    for (at, c) in command.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if !is_quoted => is_escaped = true,
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => {
                found.push(begin..at);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(begin..command.len());
    found.retain(|word| !word.is_empty());
    found
}

/// Whether a word is the name of an option alone: `--runs`, `-p`. What is behind it is probably its value.
fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    name.len() < word.len() && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_and_its_value_are_one_part() {
        for (command, parts) in [
            (
                "cargo evalset run 'my set.json:a' --agent-cmd 'python3 agent.py' --runs 3",
                &["cargo", "evalset", "run", "'my set.json:a'", "--agent-cmd 'python3 agent.py'", "--runs 3"]
                    [..],
            ),
            ("cargo test -p app -- --exact a::b", &["cargo", "test", "-p app", "--", "--exact a::b"]),
            ("run --price=0.3/2 --literal", &["run", "--price=0.3/2", "--literal"]),
            ("'it'\\''s a'  b", &["'it'\\''s a'", "b"]),
            ("", &[]),
        ] {
            assert_eq!(command_words(command), parts);
        }
    }
}
