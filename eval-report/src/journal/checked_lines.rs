//! The lines of a file: read one by one, checked, and parsed.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use eval_core::journal::sealed_number;

use super::read::ReadRunError;
use super::record::{Record, RecordError};

/// The most bytes of a line, which is held in memory while it is read. No record is longer: a conversation has 64 MiB, of which
/// JSON writes a byte as six at most.
const MAX_LINE_BYTES: usize = 512 << 20;

pub(super) struct Lines<'p> {
    path: &'p Path,
    file: BufReader<File>,
    text: Vec<u8>,
    /// The number of the last line, from 1.
    number: usize,
    max_bytes: usize,
}

pub(super) enum Line<'l> {
    Whole {
        number: usize,
        /// The line without its break; its length if it is too long to be held.
        text: Result<&'l [u8], usize>,
    },
    /// The bytes after the last line break: nothing, unless the writing process was killed.
    Torn(&'l [u8]),
}

impl<'p> Lines<'p> {
    pub(super) fn open(path: &'p Path) -> Result<Self, ReadRunError> {
        let file = File::open(path).map_err(ReadRunError::io(path))?;
        let file = BufReader::with_capacity(1 << 18, file);
        Ok(Self { path, file, text: Vec::new(), number: 0, max_bytes: MAX_LINE_BYTES })
    }

    /// The next line. A torn line is the last one.
    pub(super) fn next(&mut self) -> Result<Line<'_>, ReadRunError> {
        let failed = ReadRunError::io(self.path);
        self.number += 1;
        self.text.clear();
        let limit = self.max_bytes as u64 + 1;
        self.file.by_ref().take(limit).read_until(b'\n', &mut self.text).map_err(&failed)?;
        if self.text.pop_if(|last| *last == b'\n').is_some() {
            return Ok(Line::Whole { number: self.number, text: Ok(&self.text) });
        }
        if self.text.len() <= self.max_bytes {
            return Ok(Line::Torn(&self.text));
        }
        let length = self.text.len() + self.file.skip_until(b'\n').map_err(&failed)?;
        Ok(Line::Whole { number: self.number, text: Err(length - 1) })
    }
}

/// Checks the seal of a line and parses it. Returns the number in the seal, and the record or why it cannot
/// be parsed.
pub(super) fn check(text: Result<&[u8], usize>) -> Result<(usize, Result<Record, RecordError>), RecordError> {
    let line = text.map_err(RecordError::TooLong)?;
    let number = sealed_number(line).ok_or(RecordError::Changed)?;
    Ok((number, Record::parse(line)))
}

/// A check of the order of the lines of a file.
pub(super) struct Order {
    expected: usize,
}

impl Order {
    /// The order after the head, which is line 1.
    pub(super) fn behind_the_head() -> Self {
        Self { expected: 2 }
    }

    /// Checks the number of the next line. Returns an error to report if the line is valid but lines before
    /// it are missing. Fails if the line is a repeated or moved one.
    pub(super) fn check(&mut self, number: usize) -> Result<Option<RecordError>, RecordError> {
        let expected = self.expected;
        if number < expected {
            return Err(RecordError::Misplaced(format!(
                "it is line {number} of the journal again, or was moved behind line {}",
                expected - 1
            )));
        }
        self.expected = number + 1;
        let lost = number - expected;
        Ok((lost > 0).then(|| {
            let lines = if lost == 1 { "1 line".to_owned() } else { format!("{lost} lines") };
            RecordError::Misplaced(format!(
                "it is line {number} of the journal, and {lines} before it cannot be read"
            ))
        }))
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn the_lines_of_a_file_come_in_order_and_one_that_is_too_long_is_passed_over() {
        let temporary = TempDir::new().unwrap();
        let path = temporary.path().join("a.jsonl");
        std::fs::write(&path, ["one", "", &"x".repeat(101), "four", "half"].join("\n")).unwrap();
        let mut lines = Lines { max_bytes: 100, ..Lines::open(&path).unwrap() };
        let mut found = Vec::new();
        let torn = loop {
            match lines.next().unwrap() {
                Line::Whole { number, text } => found.push((number, text.map(<[u8]>::len))),
                Line::Torn(torn) => break torn.to_owned(),
            }
        };
        assert_eq!(torn, b"half");
        assert_eq!(found, [(1, Ok(3)), (2, Ok(0)), (3, Err(101)), (4, Ok(4))]);
        assert!(matches!(check(Err(7)), Err(RecordError::TooLong(7))));
    }

    #[test]
    fn lines_that_were_lost_or_moved_are_told_by_their_numbers() {
        let mut order = Order::behind_the_head();
        for (number, said) in [
            (2, ""),
            (3, ""),
            (5, "it is line 5 of the journal, and 1 line before it cannot be read"),
            (8, "it is line 8 of the journal, and 2 lines before it cannot be read"),
            (8, "it is line 8 of the journal again, or was moved behind line 8"),
            (9, ""),
        ] {
            let error = order.check(number).unwrap_or_else(Some);
            assert_eq!(error.map(|error| error.to_string()).unwrap_or_default(), said);
        }
    }
}
