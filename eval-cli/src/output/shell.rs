//! Commands as a shell takes them.

/// A word, quoted where a shell would read more into it than its characters.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The words of a command.
pub(crate) fn line<S: AsRef<str>>(words: &[S]) -> String {
    words.iter().map(|it| word(it.as_ref())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_read_is_quoted() {
        assert_eq!(
            line(&["cargo", "test", "a::b", "a b", "$(x)", "it's", ""]),
            r"cargo test a::b 'a b' '$(x)' 'it'\''s' ''"
        );
        assert_eq!(word("日本::大阪"), "日本::大阪");
        assert_eq!(word("a\nb"), "'a\nb'");
    }
}
