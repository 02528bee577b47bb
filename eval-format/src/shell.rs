//! Commands in messages, as a shell takes them.

/// A word quoted for a shell, if it needs quotes.
///
/// ```
/// use eval_format::__private::shell_word;
///
/// assert_eq!(shell_word("evals/weather.evalset.json"), "evals/weather.evalset.json");
/// assert_eq!(shell_word(""), "''");
/// assert_eq!(shell_word("Anna's sets"), r"'Anna'\''s sets'");
/// ```
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,@%+=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
