//! Words and commands as a shell takes them.

use shlex::Quoter;

/// A word, in quotes if a shell would not take it as it is.
pub fn word(text: &str) -> String {
    line(&[text])
}

/// The words of a command.
pub fn line<S: AsRef<str>>(words: &[S]) -> String {
    let words = || words.iter().map(AsRef::as_ref);
    // The one error is a NUL, which is allowed here: no argument and no name of a function contains one.
    let quoted = Quoter::new().allow_nul(true).join(words());
    quoted.unwrap_or_else(|_| words().collect::<Vec<_>>().join(" "))
}

/// The words of a line as a shell reads them, without what else a shell does; `None` if a quote has no end.
pub fn words(line: &str) -> Option<Vec<String>> {
    shlex::split(line)
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
