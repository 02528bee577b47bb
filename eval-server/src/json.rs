//! Why a text is no JSON.

/// What Python and JavaScript write for numbers that JSON does not have.
const NO_NUMBERS: [&str; 4] = ["NaN", "Infinity", "-Infinity", "nan"];

/// Why a text is no JSON, with the line and the column.
pub(crate) fn why(text: &[u8], error: &serde_json::Error) -> String {
    match no_number(text, error) {
        Some(word) => format!(
            "`{word}` is no JSON: line {} column {}. Python's `json` writes it unless it is told `allow_nan=False`; `null` \
             stands for what has no value",
            error.line(),
            error.column()
        ),
        None => error.to_string(),
    }
}

/// What stands where the error is, if it is one of Python's numbers.
fn no_number(text: &[u8], error: &serde_json::Error) -> Option<&'static str> {
    let line = text.split(|byte| *byte == b'\n').nth(error.line().checked_sub(1)?)?;
    // The column is that of the first character that does not fit: of `-Infinity` it is the second one.
    let at = error.column().saturating_sub(1);
    let word_at = |at: usize| {
        let rest = line.get(at..)?;
        NO_NUMBERS.into_iter().find(|word| rest.starts_with(word.as_bytes()))
    };
    [at.checked_sub(1), Some(at)].into_iter().flatten().find_map(word_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_does_not_have_are_named_with_their_place() {
        for (text, word, place) in [
            ("{\"a\": NaN}", "`NaN`", "line 1 column 7"),
            ("{\n\"a\": [1, Infinity]}", "`Infinity`", "line 2 column 10"),
            ("[-Infinity]", "`-Infinity`", "line 1 column 3"),
            ("NaN", "`NaN`", "line 1 column 1"),
        ] {
            let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
            let why = why(text.as_bytes(), &error);
            assert!(why.starts_with(&format!("{word} is no JSON: {place}")), "{text}: {why}");
        }
        let error = serde_json::from_str::<serde_json::Value>("{,}").unwrap_err();
        assert_eq!(why(b"{,}", &error), error.to_string());
    }
}
