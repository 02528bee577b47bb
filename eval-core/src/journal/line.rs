//! A line of the journal while it is written.

use std::borrow::Cow;
use std::sync::Arc;

use eval_format::__private::write_string;
use eval_support::hash::block_hash;
use eval_support::secrets::{
    PrivateKey, SHORTEST_SECRET, Secrets, is_in_every_address, is_in_every_border, is_in_every_key,
};
use serde_core::Deserializer;

/// A value in a record: a type that writes and reads itself, in one form.
///
/// The types of other crates have serde forms of their own, or none, so this trait is implemented for them in place of
/// serde's.
#[doc(hidden)]
pub trait Field: Sized + PartialEq {
    /// Adds the value to a line as JSON.
    fn write(&self, line: &mut Line);

    /// Reads the value.
    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;

    /// The value of a field that is missing; `None` if the field must not be missing. A field with this value is not
    /// written.
    fn absent() -> Option<Self> {
        None
    }

    /// Whether the value is the one that a missing field is read as.
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
        let json = String::with_capacity(USUAL_LENGTH);
        let mut line = Self { json, secrets, private_key: PrivateKey::default() };
        value.write(&mut line);
        line.json
    }

    /// Adds a piece of JSON of our own, as it is.
    pub(super) fn add(&mut self, json: &str) {
        self.json.push_str(json);
    }

    /// Adds an array.
    pub(super) fn list<T>(&mut self, items: &[T], write: impl Fn(&T, &mut Self)) {
        self.add("[");
        for item in items {
            self.separate();
            write(item, self);
        }
        self.add("]");
    }

    /// Adds a field of an object. Its key is JSON of ours, with the colon.
    pub(super) fn field(&mut self, key: &str, value: &impl Field) {
        self.separate();
        self.add(key);
        value.write(self);
    }

    /// Adds a field, unless its value is [absent](Field::absent).
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

    /// Adds the comma between two items, or two fields.
    fn separate(&mut self) {
        if !matches!(self.json.as_bytes().last(), Some(b'{' | b'[')) {
            self.add(",");
        }
    }

    /// Adds a string, with secrets masked.
    pub(super) fn text(&mut self, text: &str) {
        let kinds = kinds(text.as_bytes());
        if (kinds & BORDER != 0 || self.private_key.is_open())
            && let Some(masked) = self.private_key.mask(text)
        {
            return self.word(&masked);
        }
        let is_long = text.len() >= SHORTEST_SECRET;
        if (kinds & ADDRESS != 0 || is_long && (kinds & KEY != 0 || self.secrets.has_values()))
            && let Cow::Owned(masked) = self.secrets.mask(text)
        {
            return self.word(&masked);
        }
        self.word(text);
    }

    /// Adds a string without looking for secrets.
    pub(super) fn word(&mut self, word: &str) {
        // Writing to a `String` cannot fail.
        let _ = write_string(word, &mut self.json);
    }

    /// Adds the digits of a number from outside; a masked string if they hold a secret.
    pub(super) fn number(&mut self, digits: &str) {
        match self.secrets.mask(digits) {
            Cow::Owned(masked) if digits.len() >= SHORTEST_SECRET => self.word(&masked),
            _ => self.add(digits),
        }
    }
}

/// A capacity that is enough for most records.
const USUAL_LENGTH: usize = 1024;

/// A byte that is in every key.
const KEY: u8 = 1;
/// A byte that is in every address with a password.
const ADDRESS: u8 = 2;
/// A byte that is in the first and last line of every private key.
const BORDER: u8 = 4;

static KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut at = 0_usize;
    while at < 256 {
        let byte = at.to_le_bytes()[0];
        kinds[at] = if is_in_every_key(byte) {
            KEY
        } else if is_in_every_address(byte) {
            ADDRESS
        } else if is_in_every_border(byte) {
            BORDER
        } else {
            0
        };
        at += 1;
    }
    kinds
};

/// The kinds of the bytes in a text. Most texts lack the bytes of secrets, and need no search for them: tests
/// write journals without optimisation, where the search takes longer than all other writing.
fn kinds(mut bytes: &[u8]) -> u8 {
    let mut kinds = 0;
    while let [byte, rest @ ..] = bytes {
        kinds |= KINDS[*byte as usize];
        bytes = rest;
    }
    kinds
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
/// The digits of a sum, and the end of a line.
const TAIL: usize = 16 + 2;

/// The number in the seal of a line, which is given without its line break. `None` if it has no seal, or was
/// changed after it was written.
#[doc(hidden)]
pub fn sealed_number(line: &[u8]) -> Option<usize> {
    let (before, tail) = line.split_at_checked(line.len().checked_sub(TAIL + SUM.len())?)?;
    let digits = std::str::from_utf8(tail.strip_prefix(SUM.as_bytes())?.strip_suffix(b"\"}")?).ok()?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if !digits.bytes().all(is_digit) || u64::from_str_radix(digits, 16).ok()? != block_hash(before) {
        return None;
    }
    let at = before.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    let number = before[..at]
        .ends_with(NUMBER.as_bytes())
        .then(|| std::str::from_utf8(&before[at..]).ok())
        .flatten()?;
    number.parse().ok()
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
