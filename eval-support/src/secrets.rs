//! Secrets: values of variables of the environment, and words that look like keys. They are masked in all that is
//! written or printed.
//!
//! A variable holds a secret if its name says so: see `names`. A word is a secret if it has the shape that a provider
//! gives its keys: see `shapes`. Values stay as they are in memory, where agents and metrics need them.

mod assigned;
mod names;
mod shapes;

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use serde_json::Value;

pub use assigned::{argument_without_assigned, assigned, without_assigned};
pub use names::is_secret_entry;
pub use shapes::{HIDDEN as KEY_NOTE, PrivateKey, begins_like_key, key_ranges, mask_shapes};

/// The length of the shortest value that is taken for a secret. A shorter one would be found in any text.
const SHORTEST_SECRET: usize = 8;

/// The names and current values of the variables that are named like a secret.
pub fn secret_variables() -> impl Iterator<Item = (String, String)> {
    let texts = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    texts.filter(|(name, value)| is_secret(name, value))
}

/// Whether the name of a value (a variable, or an argument of a tool) says that it is secret.
pub fn is_secret(name: &str, value: &str) -> bool {
    value.len() >= SHORTEST_SECRET && names::says_secret(name) && !names::is_harmless(value)
}

/// Whether the name of a key says that its text is a secret. A plain `key` is more often an identifier than a
/// secret.
pub fn is_secret_under(key: &str, text: &str) -> bool {
    !["key", "keys"].iter().any(|plain| key.eq_ignore_ascii_case(plain)) && is_secret(key, text)
}

/// Secrets that are looked for in texts.
#[derive(Default)]
pub struct Secrets {
    /// Values, the longest first. Each value is stored as it is, trimmed, unescaped, and escaped as in a JSON
    /// string and in `Debug` output. If a value is JSON, its texts under secret keys are stored too.
    values: Vec<Secret>,
}

struct Secret {
    value: String,
    /// The name of its variable.
    variable: String,
}

impl Secrets {
    /// The values of these variables.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut secrets = Self::default();
        for (name, value) in variables {
            secrets.add(&name, &value);
            if value.contains('\\')
                && let Ok(unescaped) = serde_json::from_str::<String>(&format!("\"{value}\""))
            {
                secrets.add(&name, &unescaped);
            }
            if let Ok(json) = serde_json::from_str(&value) {
                secrets.add_texts_of(&name, &name, &json);
            }
        }
        secrets
    }

    /// Adds the value of a variable, in all forms in which it may be written.
    fn add(&mut self, name: &str, value: &str) {
        let json = serde_json::to_string(value).unwrap_or_default();
        let debug = format!("{value:?}");
        for written in [value, inside(&json), inside(&debug), value.trim()] {
            if written.len() >= SHORTEST_SECRET && !self.values.iter().any(|known| known.value == written) {
                // Long values come first: a short one may be a part of a long one. A sort would be much code
                // for a few values.
                let place = self.values.partition_point(|Secret { value: known, .. }| {
                    (written.len(), known.as_str()) < (known.len(), written)
                });
                self.values.insert(place, Secret { value: written.to_owned(), variable: name.to_owned() });
            }
        }
    }

    /// Adds the texts in JSON whose keys say that they are secret. The items of an array have the key of the
    /// array.
    fn add_texts_of(&mut self, variable: &str, key: &str, json: &Value) {
        match json {
            Value::String(text) if is_secret(key, text) => self.add(variable, text),
            Value::Array(items) => items.iter().for_each(|item| self.add_texts_of(variable, key, item)),
            Value::Object(fields) => {
                fields.iter().for_each(|(key, item)| self.add_texts_of(variable, key, item));
            }
            _ => {}
        }
    }

    /// The secrets of the environment, read once.
    pub fn of_environment() -> &'static Arc<Self> {
        static READ: OnceLock<Arc<Secrets>> = OnceLock::new();
        READ.get_or_init(|| Arc::new(Self::of(secret_variables())))
    }

    /// The text without secrets. Each is replaced by the name of its variable, by a note that there was a key, or by a
    /// note that a value [was hidden](hide).
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = Cow::Borrowed(text);
        for Secret { value, variable } in &self.values {
            if masked.contains(value) {
                masked = Cow::Owned(masked.replace(value, &format!("(the value of {variable})")));
            }
        }
        let masked = match mask_shapes(&masked) {
            Cow::Borrowed(_) => masked,
            Cow::Owned(masked) => Cow::Owned(masked),
        };
        if IS_HIDDEN.load(Ordering::Acquire) { mask_hidden(masked) } else { masked }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.values.iter().map(|secret| secret.variable.as_str()).collect();
        f.debug_tuple("Secrets").field(&names).finish()
    }
}

/// A quoted text without its quotes.
fn inside(quoted: &str) -> &str {
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(quoted)
}

/// A text with its secrets masked: the values of variables, and words that look like keys.
///
/// It costs a search for each secret variable and for each beginning of a key; texts without secrets are not copied.
pub fn mask(text: &str) -> Cow<'_, str> {
    Secrets::of_environment().mask(text)
}

/// Whether a text has the note of a mask in it. What was there before is lost.
pub fn shows_a_mask(text: &str) -> bool {
    [shapes::HIDDEN, "(a hidden value)", "(a secret)", "(the value of "]
        .iter()
        .any(|note| text.contains(note))
}

/// A text with the values of [`hide`] masked.
fn mask_hidden(text: Cow<'_, str>) -> Cow<'_, str> {
    let hidden = HIDDEN.read().unwrap_or_else(PoisonError::into_inner);
    hidden.iter().fold(text, |text, value| {
        if text.contains(value.as_str()) {
            Cow::Owned(text.replace(value.as_str(), "(a hidden value)"))
        } else {
            text
        }
    })
}

/// Values from [`hide`] that are in no variable, such as headers. The longest first.
static HIDDEN: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Whether `HIDDEN` has values. Reading it needs no lock.
static IS_HIDDEN: AtomicBool = AtomicBool::new(false);

/// Masks a value from now on: as it is, and escaped as in a JSON string and in `Debug` output. A value that
/// is too short is ignored: it would be found in any text.
pub fn hide(value: &str) {
    let json = serde_json::to_string(value).unwrap_or_default();
    let debug = format!("{value:?}");
    for written in [value, inside(&json), inside(&debug)] {
        hide_as_written(written);
    }
}

fn hide_as_written(value: &str) {
    let is_known = |hidden: &[String]| hidden.iter().any(|known| known == value);
    if value.len() < SHORTEST_SECRET || is_known(&HIDDEN.read().unwrap_or_else(PoisonError::into_inner)) {
        return;
    }
    let mut hidden = HIDDEN.write().unwrap_or_else(PoisonError::into_inner);
    if !is_known(&hidden) {
        let place = hidden.partition_point(|known| known.len() > value.len());
        hidden.insert(place, value.to_owned());
        IS_HIDDEN.store(true, Ordering::Release);
    }
}

/// Writes `Debug` output without secrets.
pub fn debug(
    f: &mut fmt::Formatter<'_>,
    write: impl Fn(&mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    let value = fmt::from_fn(write);
    let text = if f.alternate() { format!("{value:#?}") } else { format!("{value:?}") };
    f.write_str(&mask(&text))
}

/// `Debug` of a struct with all its fields, as it is derived, but without secrets.
#[macro_export]
macro_rules! debug_without_secrets {
    ($kind:ident { $($field:ident),+ $(,)? }) => {
        /// Without secrets.
        impl std::fmt::Debug for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let Self { $($field),+ } = self;
                $crate::secrets::debug(f, |f| {
                    f.debug_struct(stringify!($kind))$(.field(stringify!($field), $field))+.finish()
                })
            }
        }
    };
}

/// The length of the longest key, in bytes.
const MAX_KEY_BYTES: usize = 4096;

/// The first `most` bytes of a text, without the word that the limit cuts: half a key would not be recognised
/// as one. If that word is longer than any key, only its end is left out.
pub fn first_words(mut text: Vec<u8>, most: usize) -> String {
    if text.len() > most {
        text.truncate(most);
        let from = text.len().saturating_sub(MAX_KEY_BYTES);
        let ends_word = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>,;".contains(byte);
        let end = text[from..].iter().rposition(ends_word).unwrap_or(0);
        text.truncate(from + end);
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_seen_in_a_text() {
        hide("green-elephant-2");
        for text in [concat!("use AKIA", "IOSFODNN7EXAMPLE"), "green-elephant-2"] {
            assert!(!shows_a_mask(text) && shows_a_mask(&mask(text)), "{text}");
        }
        assert!(shows_a_mask(&masked(&[("A_TOKEN", "tok-1234567")], "tok-1234567")));
        assert!(!shows_a_mask("a key (of the house)"));
    }

    #[test]
    fn a_word_that_is_cut_is_left_out() {
        let text = || b"the key abcdefgh".to_vec();
        assert_eq!(first_words(text(), 16), "the key abcdefgh");
        assert_eq!(first_words(text(), 12), "the key");
        assert_eq!(first_words(b"abcdefgh".to_vec(), 4), "");
        assert_eq!(first_words(b"{\"key\":\"ab-c_d.e/f+g=\"}".to_vec(), 15), "{\"key\":");
        assert_eq!(first_words(vec![b'x'; 3 * MAX_KEY_BYTES], 2 * MAX_KEY_BYTES), "x".repeat(MAX_KEY_BYTES));
    }

    fn masked(variables: &[(&str, &str)], text: &str) -> String {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Secrets::of(variables).mask(text).into_owned()
    }

    #[test]
    fn values_are_masked_as_they_are_and_as_they_are_quoted() {
        let variables = [
            ("A_TOKEN", "tok\"en\n678"),
            ("B_KEY", "tok\"en\n678 and more"),
            ("C_SECRET", r#"\"purple\"\nelephant"#),
            ("D_CREDENTIALS", r#"{"user":"app-of-mine","more":[{"a":{"password":"correct-horse"}}]}"#),
            ("E_KEYS", r#"["battery-staple", {"api_keys":["one-two-three"],"names":["somebody"]}]"#),
        ];
        for (text, expected) in [
            ("say tok\"en\n678!", "say (the value of A_TOKEN)!"),
            (r#"{"a":"tok\"en\n678"}"#, r#"{"a":"(the value of A_TOKEN)"}"#),
            ("tok\"en\n678 and more", "(the value of B_KEY)"),
            ("token678", "token678"),
            ("a \"purple\"\nelephant", "a (the value of C_SECRET)"),
            ("correct-horse of app-of-mine", "(the value of D_CREDENTIALS) of app-of-mine"),
            ("battery-staple of somebody", "(the value of E_KEYS) of somebody"),
            ("one-two-three", "(the value of E_KEYS)"),
            ("", ""),
        ] {
            assert_eq!(masked(&variables, text), expected, "{text}");
        }
    }

    #[test]
    fn variables_that_are_short_or_harmless_are_no_secrets() {
        for (name, value, secret) in [
            ("OPENAI_API_KEY", "correct-horse", true),
            ("OPENAI_API_KEY", "short", false),
            ("TOKENIZERS_PARALLELISM", "12345678", false),
            ("SSH_AUTH_SOCK", "/tmp/ssh-agent.sock", false),
            ("API_KEY_FILE", "/run/secrets/key", false),
            ("GOOGLE_CREDENTIALS", "/home/me/credentials.json", false),
        ] {
            assert_eq!(is_secret(name, value), secret, "{name}");
        }
    }

    #[test]
    fn debug_output_has_no_secrets() {
        let secrets = Secrets::of([("A_TOKEN".to_owned(), "correct-horse".to_owned())]);
        assert_eq!(format!("{secrets:?}"), r#"Secrets(["A_TOKEN"])"#);
    }

    #[test]
    fn values_that_are_hidden_later_are_masked_from_then_on() {
        hide("purple-elephant-1");
        hide("purple-elephant-1 and more");
        hide("purple \"elephant\"");
        hide("short");
        assert_eq!(mask("purple-elephant-1 and more, short"), "(a hidden value), short");
        assert_eq!(mask("a purple-elephant-1!"), "a (a hidden value)!");
        assert_eq!(mask(r#"["purple \"elephant\""]"#), r#"["(a hidden value)"]"#);
    }

    #[test]
    fn texts_without_secrets_are_not_copied() {
        assert!(matches!(mask("It is sunny in Paris."), Cow::Borrowed(_)));
    }
}
