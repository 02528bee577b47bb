//! The bytes of a line while it is written.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use eval_format::__private::{needs_escape, write_string};
use eval_support::secrets::{
    PrivateKey, SHORTEST_SECRET, Secrets, is_in_every_address, is_in_every_border, is_in_every_key,
};

/// A text that grows. Secrets are looked for in each [`text`](Self::text) and [`number`](Self::number), and nowhere else: texts
/// from outside, and the numbers in values from outside, are written with these.
///
/// Journals are written by tests, which are built without optimisation. There, an append to a `Vec` or a `String` takes a
/// dozen calls, and so does an index into a `Vec`. An index into a slice takes none.
#[derive(Debug)]
pub(super) struct Line {
    /// What is written, and room for more.
    bytes: Box<[u8]>,
    written: usize,
    secrets: Arc<Secrets>,
    private_key: PrivateKey,
}

impl Line {
    /// A line that masks no values of variables.
    pub(super) fn new() -> Self {
        Self::without(Arc::default())
    }

    /// A line without these secrets.
    pub(super) fn without(secrets: Arc<Secrets>) -> Self {
        Self { bytes: Box::new([0; USUAL]), written: 0, secrets, private_key: PrivateKey::default() }
    }

    pub(super) fn push(&mut self, byte: u8) {
        if self.written == self.bytes.len() {
            self.grow(1);
        }
        self.bytes[self.written] = byte;
        self.written += 1;
    }

    /// Adds a digit: a number from 0 to 9.
    pub(super) fn digit(&mut self, digit: u64) {
        self.push(b'0' + digit.to_le_bytes()[0]);
    }

    /// Adds a piece of JSON of our own, as it is.
    pub(super) fn add(&mut self, json: &str) {
        let end = self.written + json.len();
        if end > self.bytes.len() {
            self.grow(json.len());
        }
        self.bytes[self.written..end].copy_from_slice(json.as_bytes());
        self.written = end;
    }

    /// Adds a string, without secrets.
    pub(super) fn text(&mut self, text: &str) {
        let kinds = kinds(text.as_bytes());
        if (kinds & BORDER != 0 || self.private_key.is_open())
            && let Some(masked) = self.private_key.mask(text)
        {
            return self.masked(&masked);
        }
        let is_long = text.len() >= SHORTEST_SECRET;
        if (kinds & ADDRESS != 0 || is_long && (kinds & KEY != 0 || self.secrets.has_values()))
            && let Cow::Owned(masked) = self.secrets.mask(text)
        {
            return self.masked(&masked);
        }
        self.string(text, kinds);
    }

    /// Adds a string that needs no escapes. No secrets are looked for in it.
    pub(super) fn word(&mut self, word: &str) {
        self.push(b'"');
        self.add(word);
        self.push(b'"');
    }

    /// Adds a text that has lost its secrets.
    fn masked(&mut self, text: &str) {
        self.string(text, kinds(text.as_bytes()));
    }

    fn string(&mut self, text: &str, kinds: u8) {
        if kinds & ESCAPED == 0 {
            self.word(text);
        } else {
            // A line takes everything.
            let _ = write_string(text, &mut Escaped(self));
        }
    }

    /// Adds the digits of a number; a string if they are a secret.
    pub(super) fn number(&mut self, digits: &str) {
        if digits.len() >= SHORTEST_SECRET
            && let Cow::Owned(masked) = self.secrets.mask(digits)
        {
            self.masked(&masked);
        } else {
            self.add(digits);
        }
    }

    fn grow(&mut self, more: usize) {
        let mut grown = vec![0; (self.written + more) * 2].into_boxed_slice();
        grown[..self.written].copy_from_slice(&self.bytes[..self.written]);
        self.bytes = grown;
    }

    /// Replaces a byte that was written.
    pub(super) fn replace(&mut self, at: usize, byte: u8) {
        if at < self.written {
            self.bytes[at] = byte;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.written
    }

    /// Takes the last byte off.
    pub(super) fn pop(&mut self) {
        self.written = self.written.saturating_sub(1);
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.written]
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        let mut bytes = self.bytes.into_vec();
        bytes.truncate(self.written);
        bytes
    }
}

/// What the bytes of a text are. They are looked at once for all that has to be known, four at a time.
fn kinds(mut bytes: &[u8]) -> u8 {
    let mut kinds = 0;
    while let [one, two, three, four, rest @ ..] = bytes {
        kinds |= KINDS[*one as usize] | KINDS[*two as usize] | KINDS[*three as usize] | KINDS[*four as usize];
        bytes = rest;
    }
    while let [one, rest @ ..] = bytes {
        kinds |= KINDS[*one as usize];
        bytes = rest;
    }
    kinds
}

/// Most records have room in it. Allocators take longer for more.
const USUAL: usize = 1024;

/// A byte that a string cannot hold as it is.
const ESCAPED: u8 = 1;
/// A byte of those that are in every key, in every address with a password, and in the first and last lines of every private
/// key.
const KEY: u8 = 2;
const ADDRESS: u8 = 4;
const BORDER: u8 = 8;

/// What each byte is.
static KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut at = 0_usize;
    while at < 256 {
        let byte = at.to_le_bytes()[0];
        kinds[at] = if needs_escape(byte) {
            ESCAPED
        } else if is_in_every_key(byte) {
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

/// What writes the escapes of a string. The line itself takes no formatted text, so that none escapes the search for secrets.
struct Escaped<'a>(&'a mut Line);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.add(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_what_was_added_however_long() {
        let mut line = Line::new();
        let mut expected = String::new();
        for length in [0, 1, 2047, 1, 5000, 3] {
            let text = "x".repeat(length);
            line.add(&text);
            line.push(b'y');
            expected.push_str(&text);
            expected.push('y');
        }
        assert_eq!(line.len(), expected.len());
        line.replace(0, b'z');
        expected.replace_range(..1, "z");
        assert_eq!(line.into_bytes(), expected.as_bytes());
    }

    #[test]
    fn nothing_is_replaced_behind_what_was_written() {
        let mut full = Line::new();
        let room = full.bytes.len();
        full.add(&"x".repeat(room));
        full.replace(room, b'z');
        full.replace(room - 1, b'y');
        assert_eq!(full.into_bytes(), ("x".repeat(room - 1) + "y").as_bytes());
    }

    fn written(line: Line) -> String {
        String::from_utf8(line.into_bytes()).unwrap()
    }

    #[test]
    fn strings_are_those_of_every_writer_of_json() {
        for text in [
            "",
            "plain",
            "é 天 🎉\u{7f}",
            "7 \"quoted\"\n",
            "\\",
            "\u{1f}",
            "a long text without any of them",
        ] {
            for write in [Line::text, Line::masked] {
                let mut line = Line::new();
                write(&mut line, text);
                assert_eq!(written(line), serde_json::to_string(text).unwrap());
            }
        }
    }

    #[test]
    fn texts_and_numbers_lose_their_secrets_and_words_stay() {
        let variables =
            [("A_TOKEN", "purple \"elephant\""), ("B_PASSWORD", "20261123"), ("C_KEY", "nodigits")];
        let secrets = Secrets::of(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let mut line = Line::without(Arc::new(secrets));
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
        assert_eq!(written(line), expected.concat());
    }
}
