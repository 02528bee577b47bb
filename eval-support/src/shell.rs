//! Quoting of words and commands for a shell.

use crate::untrusted::name;

/// A word, in quotes if a shell would not take it as it is. Characters that are not printed as they are, such as controls, are
/// written by their numbers, as bash and zsh take them: a command that is copied from a terminal has the same words.
///
/// ```
/// use eval_support::shell::word;
///
/// assert_eq!(word("evals/weather.evalset.json"), "evals/weather.evalset.json");
/// assert_eq!(word(""), "''");
/// assert_eq!(word("Anna's sets"), r"'Anna'\''s sets'");
/// assert_eq!(word("one\ntwo"), r"$'one\012two'");
/// ```
pub fn word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,@%+=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if name(word) != word {
        return by_numbers(word);
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A word in the `$'..'` of bash. A byte has three octal digits, so that the next digit is not read as a part of it.
fn by_numbers(word: &str) -> String {
    let mut out = "$'".to_owned();
    for c in word.chars() {
        let text = c.to_string();
        if matches!(c, '\'' | '\\' | '#') || name(&text) != text {
            text.bytes().for_each(|byte| out.push_str(&format!("\\{byte:03o}")));
        } else {
            out.push(c);
        }
    }
    out + "'"
}

/// The words of a command, quoted and joined.
pub fn line<S: AsRef<str>>(words: &[S]) -> String {
    words.iter().map(|text| word(text.as_ref())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 11] = [
        "cargo",
        "test",
        "a::b",
        "a b",
        "$(x)",
        "it's",
        "",
        "日本::大阪",
        "r#match",
        "~",
        "package(=a) & test(=b)",
    ];

    #[test]
    fn plain_words_have_no_quotes() {
        assert_eq!(line(&["cargo", "test", "a::b", "a b"]), "cargo test a::b 'a b'");
        assert_eq!(word("evals/weather.evalset.json"), "evals/weather.evalset.json");
    }

    /// The words that a shell reads in a line as it is printed.
    #[cfg(unix)]
    fn read_by(shell: &str, words: &[&str]) -> Vec<String> {
        let script = format!("printf '%s\\0' {}", name(&line(words)));
        let output = std::process::Command::new(shell).args(["-c", &script]).output().expect("a shell");
        let read = String::from_utf8(output.stdout).expect("UTF-8");
        read.split_terminator('\0').map(str::to_owned).collect()
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_the_same_words() {
        assert_eq!(read_by("sh", &WORDS), WORDS);
    }

    #[cfg(unix)]
    #[test]
    fn bash_reads_words_that_steer_a_terminal() {
        let words = ["a\nb", "con\u{1b}[31mred", "\u{202e}RTL: it's 7", "##[x]\\", "日本\u{200b}7"];
        assert_eq!(read_by("bash", &words), words);
        assert_eq!(word(words[1]), r"$'con\033[31mred'");
    }
}
