//! Counts, lists and suggestions as parts of sentences.

use crate::spelling::suggest;

/// A count with its noun: `1 file`, `2 files`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `1 token`, `12,345 tokens`.
pub fn tokens(number: i128) -> String {
    format!("{} {}", grouped(number), if number == 1 { "token" } else { "tokens" })
}

/// `12,345`.
pub fn grouped(number: i128) -> String {
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

/// `1st`, `2nd`.
pub fn ordinal(number: usize) -> String {
    let end = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

/// The verb for `number` things.
pub fn are(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// The verb for `number` things, in the past.
pub fn were(number: usize) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

/// The pronoun for `number` things.
pub fn them(number: usize) -> &'static str {
    if number == 1 { "it" } else { "them" }
}

/// The words as a list of code: `` `a`, `b` and `c` ``.
pub fn code_list<S: AsRef<str>>(words: &[S]) -> String {
    joined(words, "and")
}

/// A list of code as alternatives: `` `a`, `b` or `c` ``.
pub fn quoted_list(words: &[&str]) -> String {
    joined(words, "or")
}

fn joined<S: AsRef<str>>(words: &[S], before_last: &str) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{}`", word.as_ref())).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} {before_last} {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The words of a list that may be long: the first three, and how many more there are.
pub fn short_code_list<S: AsRef<str>>(words: &[S]) -> String {
    if words.len() > MAX_SHOWN_NAMES { first_of_code_list(words, MAX_SHOWN_NAMES) } else { code_list(words) }
}

/// The first words of a list of code between commas, and how many more there are.
pub fn first_of_code_list<S: AsRef<str>>(words: &[S], most: usize) -> String {
    let first: Vec<_> = words.iter().take(most).map(|word| format!("`{}`", word.as_ref())).collect();
    match words.len().saturating_sub(most) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// A sentence with this many names is still readable.
const MAX_SHOWN_NAMES: usize = 3;

/// The question whether a known name was meant; `None` if no name is similar.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    suggest(name, known).map(|meant| format!("did you mean `{meant}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reads_1_files() {
        assert_eq!([0, 1, 2].map(|number| count(number, "file")), ["0 files", "1 file", "2 files"]);
    }

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!([0, 999, 1000, -1_234_567].map(grouped), ["0", "999", "1,000", "-1,234,567"]);
        assert_eq!([0, 1, 1000].map(tokens), ["0 tokens", "1 token", "1,000 tokens"]);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(code_list(&["a"]), "`a`");
        assert_eq!(code_list(&["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(short_code_list(&["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(short_code_list(&["a", "b", "c", "d", "e"]), "`a`, `b`, `c` and 2 more");
    }

    #[test]
    fn a_similar_name_is_suggested() {
        assert_eq!(did_you_mean("fist", ["first", "last"]).as_deref(), Some("did you mean `first`?"));
        assert_eq!(did_you_mean("other", ["first", "last"]), None);
    }
}
