//! Keys, and their removal from messages.

use std::fmt;

use eval_support::secrets::begins_like_key;

/// A key with the variable that holds it. `Debug` does not show its value.
#[derive(Clone)]
pub(super) struct Key {
    pub(super) value: String,
    /// `None` if the program set the key.
    pub(super) variable: Option<&'static str>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

const HIDDEN: &str = "[hidden]";

/// A foreign text without these keys, and without words that look like a key.
/// Providers and proxies quote keys and headers in their errors.
pub(super) fn hide<'a>(text: &str, keys: impl IntoIterator<Item = &'a Key>) -> String {
    let mut text = text.to_owned();
    for key in keys {
        if !key.value.is_empty() {
            text = text.replace(&key.value, HIDDEN);
        }
    }
    let mut hidden = String::with_capacity(text.len());
    let mut announced = false;
    for piece in text.split_inclusive(|c| !is_key_character(c)) {
        let (word, between) = piece.split_at(piece.find(|c| !is_key_character(c)).unwrap_or(piece.len()));
        hidden.push_str(if looks_like_key(word) || announced && word.len() >= 6 { HIDDEN } else { word });
        announced = announces(word) || announced && word.is_empty();
        hidden.push_str(between);
    }
    hidden
}

fn is_key_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*')
}

/// Whether a word looks like a key: it has a known beginning, or a long run of letters and digits.
fn looks_like_key(word: &str) -> bool {
    if word.len() >= 12 && begins_like_key(word) {
        return true;
    }
    // Names of models are long too, but their pieces are short.
    word.split(|c: char| !c.is_ascii_alphanumeric()).any(|piece| {
        piece.len() >= 20
            && piece.bytes().any(|b| b.is_ascii_digit())
            && piece.bytes().any(|b| b.is_ascii_alphabetic())
    })
}

fn announces(word: &str) -> bool {
    const NAMES: &[&str] = &["bearer", "x-api-key", "x-goog-api-key", "api-key", "api_key", "apikey"];
    NAMES.iter().any(|name| word.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &str) -> Key {
        Key { value: value.to_owned(), variable: Some("OPENAI_API_KEY") }
    }

    #[test]
    fn known_keys_and_what_looks_like_one_are_hidden() {
        let known = [key("correct horse"), key("")];
        for (text, shown) in [
            ("wrong key: correct horse!", "wrong key: [hidden]!"),
            ("correct horsecorrect horse", "[hidden][hidden]"),
            ("Incorrect API key provided: sk-abcd*********wxyz.", "Incorrect API key provided: [hidden]"),
            ("key=AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jk", "key=[hidden]"),
            ("{\"authorization\": \"Bearer hunter2hunter\"}", "{\"authorization\": \"Bearer [hidden]\"}"),
            ("x-api-key: letmein", "x-api-key: [hidden]"),
            ("token 0123456789abcdef0123456789abcdef", "token [hidden]"),
            ("a0-b1c2d3e4f5a6b7c8d9e0f1a2", "[hidden]"),
        ] {
            assert_eq!(hide(text, &known), shown, "{text}");
        }
    }

    #[test]
    fn what_helps_to_understand_stays() {
        for text in [
            "The model `gemini-2.5-flash-preview-09-2025` is overloaded. Please try again later.",
            "maximum context length is 128000 tokens, requested 131072",
            "Internal server error: upstream-connect-timeout-after-30000-milliseconds",
            "größer als erlaubt: ä",
            "",
        ] {
            assert_eq!(hide(text, &[]), text);
        }
    }

    #[test]
    fn keys_are_not_in_debug_output() {
        assert_eq!(format!("{:?}", key("correct horse")), "Key(..)");
    }
}
