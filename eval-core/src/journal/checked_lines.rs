//! The lines of a file: read, checked, and parsed. Most of the work is done on each line alone, so several threads share it.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::parse::{Record, RecordError};
use super::read::ReadRunError;
use super::{outline, seal};

/// What is kept of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// Everything.
    All,
    /// Everything but what agents and judges said.
    Outline,
}

/// No record is longer. A line is held in memory while it is read.
const LONGEST_LINE: usize = 64 << 20;
/// So many bytes of lines go to another thread at once. Smaller files are read on the thread that asks.
const BATCH: usize = 1 << 20;
/// More threads gain little: the one that asks puts the records together.
const MOST_THREADS: usize = 4;

/// The lines of a file, in order.
pub(super) struct Lines<'p> {
    path: &'p Path,
    file: BufReader<File>,
    /// The number of the last line, from 1.
    number: usize,
}

impl<'p> Lines<'p> {
    pub(super) fn open(path: &'p Path) -> Result<Self, ReadRunError> {
        let file = File::open(path).map_err(ReadRunError::io(path))?;
        Ok(Self { path, file: BufReader::with_capacity(1 << 18, file), number: 0 })
    }

    /// Appends the next line, without its break, and returns its length: of a line that is too long to be held, only the
    /// beginning is appended. `None` at the end of the file; what stands behind the last line break is appended then.
    pub(super) fn next(&mut self, to: &mut Vec<u8>) -> Result<Option<usize>, ReadRunError> {
        self.number += 1;
        let mut length = 0;
        loop {
            let found = self.file.fill_buf().map_err(ReadRunError::io(self.path))?;
            if found.is_empty() {
                return Ok(None);
            }
            let end = memchr::memchr(b'\n', found);
            let piece = &found[..end.unwrap_or(found.len())];
            length += piece.len();
            if length <= LONGEST_LINE {
                to.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(end.is_some());
            self.file.consume(used);
            if end.is_some() {
                return Ok(Some(length));
            }
        }
    }

    /// The next lines, but for empty ones.
    fn batch(&mut self) -> Result<Batch, ReadRunError> {
        let mut batch = Batch::default();
        while batch.text.len() < BATCH {
            let begin = batch.text.len();
            let Some(length) = self.next(&mut batch.text)? else {
                batch.torn = Some(batch.text.split_off(begin));
                break;
            };
            if length > 0 {
                batch.lines.push(RawLine { number: self.number, begin, end: batch.text.len(), length });
            }
        }
        Ok(batch)
    }
}

/// Lines that follow each other.
#[derive(Default)]
struct Batch {
    text: Vec<u8>,
    lines: Vec<RawLine>,
    /// What stands behind the last line break, if the file ends here.
    torn: Option<Vec<u8>>,
}

/// A line as it stands in the text of a batch.
struct RawLine {
    number: usize,
    begin: usize,
    end: usize,
    length: usize,
}

/// A line that was checked by itself, without those before it.
pub(super) struct CheckedLine {
    /// Its number in the file, from 1.
    pub(super) number: usize,
    /// What it says, unless it was changed since it was written.
    pub(super) sound: Result<SoundLine, RecordError>,
}

/// A line that was not changed since it was written.
pub(super) struct SoundLine {
    /// The number that it was written with; `None` in a file without seals.
    pub(super) sealed_as: Option<usize>,
    pub(super) record: Result<Record, RecordError>,
}

impl Batch {
    fn checked(&self, sealed: bool, keep: Keep) -> Vec<CheckedLine> {
        let check = |line: &RawLine| CheckedLine {
            number: line.number,
            sound: check(&self.text[line.begin..line.end], line.length, sealed, keep),
        };
        self.lines.iter().map(check).collect()
    }
}

fn check(line: &[u8], length: usize, sealed: bool, keep: Keep) -> Result<SoundLine, RecordError> {
    if length > LONGEST_LINE {
        return Err(RecordError::TooLong(length));
    }
    if !sealed {
        // The head would say so, so it was changed.
        let is_sealed = seal::is_sealed(line);
        return if is_sealed {
            Err(RecordError::Changed)
        } else {
            Ok(SoundLine { sealed_as: None, record: parse(line) })
        };
    }
    let number = seal::number(line).ok_or(RecordError::Changed)?;
    // What was not changed since it was written has the form that it was written in.
    let outline = (keep == Keep::Outline).then(|| outline::record(line)).flatten();
    Ok(SoundLine { sealed_as: Some(number), record: outline.map_or_else(|| parse(line), Ok) })
}

/// Reads a line as a record.
pub(super) fn parse(line: &[u8]) -> Result<Record, RecordError> {
    Record::parse(std::str::from_utf8(line).map_err(RecordError::NotUtf8)?)
}

/// Calls a function with each line, in order. Returns what stands behind the last line break: nothing, unless the process
/// that wrote was killed.
pub(super) fn for_each(
    mut lines: Lines<'_>,
    sealed: bool,
    keep: Keep,
    mut each: impl FnMut(CheckedLine),
) -> Result<Vec<u8>, ReadRunError> {
    let mut batch = lines.batch()?;
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    if batch.torn.is_some() || threads == 1 {
        loop {
            batch.checked(sealed, keep).into_iter().for_each(&mut each);
            if let Some(torn) = batch.torn {
                return Ok(torn);
            }
            batch = lines.batch()?;
        }
    }
    thread::scope(|scope| {
        let worker = || {
            let (sender, batches) = sync_channel::<Batch>(1);
            let (results, receiver) = sync_channel(1);
            scope.spawn(move || {
                // Nobody receives any longer once the file cannot be read.
                batches
                    .iter()
                    .map(|batch| batch.checked(sealed, keep))
                    .all(|lines| results.send(lines).is_ok());
            });
            (sender, receiver)
        };
        let workers: Vec<(SyncSender<Batch>, Receiver<Vec<CheckedLine>>)> =
            (0..threads).map(|_| worker()).collect();
        // Each worker has one batch at a time, and they take turns, so results come in the order of the file. A worker
        // that panicked receives and sends nothing: the panic goes on where the scope ends.
        let mut receive =
            |turn: usize| workers[turn % threads].1.recv().into_iter().flatten().for_each(&mut each);
        let mut turn = 0;
        let torn = loop {
            let torn = batch.torn.take();
            if turn >= threads {
                receive(turn);
            }
            let _ = workers[turn % threads].0.send(batch);
            turn += 1;
            match torn {
                Some(torn) => break torn,
                None => batch = lines.batch()?,
            }
        };
        (turn.saturating_sub(threads)..turn).for_each(receive);
        Ok(torn)
    })
}

/// Whether the lines of a file stand in the order in which they were written.
pub(super) struct Order {
    /// The number of the next line.
    expected: usize,
}

impl Order {
    /// The order behind the head, which is line 1.
    pub(super) fn behind_the_head() -> Self {
        Self { expected: 2 }
    }

    /// Checks the number of the next line. Returns what is to be said if the line is sound but does not follow the one
    /// before it.
    pub(super) fn check(&mut self, sealed_as: Option<usize>) -> Result<Option<RecordError>, RecordError> {
        let Some(number) = sealed_as else { return Ok(None) };
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
    fn the_lines_of_a_large_file_come_in_order() {
        let temporary = TempDir::new().unwrap();
        let path = temporary.path().join("a.jsonl");
        // More batches than threads can hold at once, empty lines among them, and half a line at the end.
        let long = "x".repeat(BATCH / 4);
        let is_empty = |number: &usize| number.is_multiple_of(5);
        let lines: Vec<&str> =
            (1..=12 * MOST_THREADS).map(|number| if is_empty(&number) { "" } else { &long }).collect();
        std::fs::write(&path, lines.join("\n") + "\nhalf a li").unwrap();
        let mut numbers = Vec::new();
        let torn = for_each(Lines::open(&path).unwrap(), false, Keep::All, |line| {
            numbers.push(line.number);
            let sound = line.sound.unwrap();
            assert!(sound.sealed_as.is_none() && matches!(sound.record, Err(RecordError::NotJson(_))));
        });
        assert_eq!(torn.unwrap(), b"half a li");
        assert_eq!(numbers, (1..=12 * MOST_THREADS).filter(|number| !is_empty(number)).collect::<Vec<_>>());
    }

    #[test]
    fn a_line_that_was_too_long_to_be_held_is_no_record() {
        for (length, is_too_long) in [(2, false), (LONGEST_LINE, false), (LONGEST_LINE + 1, true)] {
            for sealed in [false, true] {
                let found = check(b"{}", length, sealed, Keep::All).err();
                assert_eq!(found == Some(RecordError::TooLong(length)), is_too_long, "{length}");
            }
        }
    }

    #[test]
    fn lines_that_were_lost_or_moved_are_told_by_their_numbers() {
        let mut order = Order::behind_the_head();
        for (sealed_as, said) in [
            (Some(2), ""),
            (None, ""),
            (Some(3), ""),
            (Some(5), "it is line 5 of the journal, and 1 line before it cannot be read"),
            (Some(8), "it is line 8 of the journal, and 2 lines before it cannot be read"),
            (Some(8), "it is line 8 of the journal again, or was moved behind line 8"),
            (Some(9), ""),
        ] {
            let error = order.check(sealed_as).unwrap_or_else(Some);
            assert_eq!(error.map(|error| error.to_string()).unwrap_or_default(), said);
        }
    }
}
