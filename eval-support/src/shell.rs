//! Quoting of words and commands for a shell.

/// A word, in quotes if a shell would not take it as it is.
///
/// ```
/// use eval_support::shell::word;
///
/// assert_eq!(word("evals/weather.evalset.json"), "evals/weather.evalset.json");
/// assert_eq!(word(""), "''");
/// assert_eq!(word("Anna's sets"), r"'Anna'\''s sets'");
/// ```
pub fn word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,@%+=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The words of a command, quoted and joined.
pub fn line<S: AsRef<str>>(words: &[S]) -> String {
    words.iter().map(|text| word(text.as_ref())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 12] = [
        "cargo",
        "test",
        "a::b",
        "a b",
        "$(x)",
        "it's",
        "",
        "日本::大阪",
        "a\nb",
        "r#match",
        "~",
        "package(=a) & test(=b)",
    ];

    #[test]
    fn plain_words_have_no_quotes() {
        assert_eq!(line(&["cargo", "test", "a::b", "a b"]), "cargo test a::b 'a b'");
        assert_eq!(word("evals/weather.evalset.json"), "evals/weather.evalset.json");
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_the_same_words() {
        let script = format!("printf '%s\\0' {}", line(&WORDS));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
        let read = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(read.split_terminator('\0').collect::<Vec<_>>(), WORDS);
    }
}
