//! A line of the journal while it is written.

use std::borrow::Cow;
use std::sync::Arc;

use eval_format::__private::write_string;
use eval_support::hash::block_hash;
use eval_support::secrets::{PrivateKey, Secrets};
use serde_core::Deserializer;

/// A value in a record: a type that writes and reads itself, in one form.
///
/// The types of other crates have serde forms of their own, or none, so this trait is implemented for them in place of
/// serde's.
#[doc(hidden)]
pub trait Field: Sized + PartialEq {
    fn write(&self, line: &mut Line);

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;

    /// The value of a field that is missing; `None` if the field must not be missing. A field with this value is not
    /// written.
    fn absent() -> Option<Self> {
        None
    }

    fn is_absent(&self) -> bool {
        Self::absent().as_ref() == Some(self)
    }
}

/// The JSON of a line under construction. Secrets are masked in [`text`](Self::text) and
/// [`number`](Self::number), and nowhere else: these write all texts from outside, and all numbers in values
/// from outside.
#[derive(Debug)]
pub struct Line {
    json: String,
    secrets: Arc<Secrets>,
    private_key: PrivateKey,
}

/// A record as it is written, but without its seal, and without masking the values of secret variables. For
/// tests of readers of journals.
#[doc(hidden)]
pub fn record_text(record: &impl Field) -> String {
    Line::of(record, Arc::default())
}

impl Line {
    /// A value as JSON, with these secrets masked.
    pub(super) fn of(value: &impl Field, secrets: Arc<Secrets>) -> String {
        let mut line = Self { json: String::new(), secrets, private_key: PrivateKey::default() };
        value.write(&mut line);
        line.json
    }

    /// Adds a piece of JSON of our own, as it is.
    pub(super) fn add(&mut self, json: &str) {
        self.json.push_str(json);
    }

    pub(super) fn list<T>(&mut self, items: &[T], write: impl Fn(&T, &mut Self)) {
        self.add("[");
        for item in items {
            self.separate();
            write(item, self);
        }
        self.add("]");
    }

    pub(super) fn field(&mut self, key: &str, value: &impl Field) {
        self.separate();
        self.json.extend(["\"", key, "\":"]);
        value.write(self);
    }

    pub(super) fn optional_field<T: Field>(&mut self, key: &str, value: &T) {
        if !value.is_absent() {
            self.field(key, value);
        }
    }

    /// Begins an entry of an object from outside. Secrets in its key are masked too.
    pub(super) fn entry(&mut self, key: &str) {
        self.separate();
        self.text(key);
        self.add(":");
    }

    fn separate(&mut self) {
        if !matches!(self.json.as_bytes().last(), Some(b'{' | b'[')) {
            self.add(",");
        }
    }

    /// Adds a string, with secrets masked.
    pub(super) fn text(&mut self, text: &str) {
        match self.private_key.mask(text) {
            Some(masked) => self.word(&masked),
            None => self.word(&self.secrets.mask(text)),
        }
    }

    /// Adds a string without looking for secrets.
    pub(super) fn word(&mut self, word: &str) {
        // Writing to a `String` cannot fail.
        let _ = write_string(word, &mut self.json);
    }

    /// Adds the digits of a number from outside; a masked string if they hold a secret.
    pub(super) fn number(&mut self, digits: &str) {
        match self.secrets.mask(digits) {
            Cow::Owned(masked) => self.word(&masked),
            Cow::Borrowed(_) => self.add(digits),
        }
    }
}

/// Ends a line that holds a record: seals it (`{"record":"decided", .., "n":7,"sum":"0123456789abcdef"}`; the sum
/// covers everything before `,"sum"`), and adds the line break.
pub(super) fn seal(json: &mut String, number: usize) {
    debug_assert!(json.ends_with('}'), "only objects have a seal");
    // The closing brace is added again after the seal.
    json.pop();
    json.push_str(&format!("{NUMBER}{number}"));
    let sum = block_hash(json.as_bytes());
    json.push_str(&format!("{SUM}{sum:016x}\"}}\n"));
}

/// A record as a line of a journal: its kind first, and with a seal. For tests of readers of journals.
#[doc(hidden)]
pub fn sealed_line(record: &serde_json::Value, number: usize) -> String {
    let mut text = format!("{{\"record\":{}", record["record"]);
    for (name, value) in record.as_object().into_iter().flatten().filter(|(name, _)| *name != "record") {
        text.push_str(&format!(",{name:?}:{value}"));
    }
    sealed(&(text + "}"), number)
}

/// The JSON of a record as a line of a journal, with a seal. For tests of readers of journals.
#[doc(hidden)]
pub fn sealed(record: &str, number: usize) -> String {
    let mut line = record.to_owned();
    seal(&mut line, number);
    line
}

const NUMBER: &str = ",\"n\":";
const SUM: &str = ",\"sum\":\"";

/// The number in the seal of a line, which is given without its line break. `None` if it has no seal, or was
/// changed after it was written.
#[doc(hidden)]
pub fn sealed_number(line: &[u8]) -> Option<usize> {
    let (before, sum) = std::str::from_utf8(line).ok()?.rsplit_once(SUM)?;
    if sum.strip_suffix("\"}")? != format!("{:016x}", block_hash(before.as_bytes())) {
        return None;
    }
    before.rsplit_once(NUMBER)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers_lose_their_secrets_and_words_stay() {
        let variables =
            [("A_TOKEN", "purple \"elephant\""), ("B_PASSWORD", "20261123"), ("C_KEY", "nodigits")];
        let secrets = Secrets::of(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let secrets = Arc::new(secrets);
        let mut line = Line { json: String::new(), secrets, private_key: PrivateKey::default() };
        let key = format!("a sk-ant-{}", "abcde01234".repeat(6));
        let private = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
        for text in [
            "a purple \"elephant\"",
            "nodigits!",
            &key,
            "a://b:c@d.e",
            "x://:p@",
            "-----BEGIN PRIVATE KEY-----",
            private,
            "-----END PRIVATE KEY-----",
            private,
        ] {
            line.text(text);
        }
        line.number("20261123");
        line.number("20261124");
        line.word("nodigits");
        let expected = [
            r#""a (the value of A_TOKEN)""#,
            r#""(the value of C_KEY)!""#,
            r#""a (a key)""#,
            r#""a://(a key)@d.e""#,
            r#""x://(a key)@""#,
            r#""-----BEGIN PRIVATE KEY-----""#,
            r#""(a key)""#,
            r#""-----END PRIVATE KEY-----""#,
            r#""MIIEvQIBADANBgkqhkiG9w0BAQEFAASC""#,
            r#""(the value of B_PASSWORD)""#,
            "20261124",
            r#""nodigits""#,
        ];
        assert_eq!(line.json, expected.concat());
    }
}

#[cfg(test)]
mod seal_tests {
    use super::*;

    #[test]
    fn every_bit_of_a_line_counts() {
        let sealed = sealed("{\"record\":\"decided\",\"test\":1}", 41);
        let line = sealed.as_bytes().strip_suffix(b"\n").unwrap();
        assert_eq!(sealed_number(line), Some(41), "{}", String::from_utf8_lossy(line));
        for bit in 0..line.len() * 8 {
            let mut flipped = line.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(sealed_number(&flipped), None, "{}", String::from_utf8_lossy(&flipped));
        }
        for cut in 0..line.len() {
            assert_eq!(sealed_number(&line[..cut]), None);
        }
        assert_eq!(sealed_number(b"{}"), None);
    }
}
