//! Reading what is added to journals, for the numbers that a page shows while tests run.
//!
//! Whether a line is sound is decided by the reader of the whole run. Here a line that cannot be read is passed over.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::page::line;

/// A run whose journals are followed.
#[derive(Debug, Default)]
pub(super) struct Followed {
    files: HashMap<PathBuf, Tail>,
    /// The last state of each case.
    cases: HashMap<Key, &'static str>,
}

/// What makes a case the same in several attempts: the binary, the name, the label.
type Key = (String, String, String);

/// Where a file was read to.
#[derive(Debug, Default)]
struct Tail {
    offset: u64,
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
    process: String,
    planned: usize,
    tests: HashMap<u64, Key>,
}

/// What is read of a record.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    record: Cow<'a, str>,
    #[serde(default)]
    test: u64,
    name: Option<String>,
    label: Option<String>,
    package: Option<String>,
    binary: Option<String>,
    #[serde(default)]
    cases: usize,
    verdict: Option<Value>,
}

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

impl Followed {
    /// Reads what was added to files, and returns the names of the cases that it is about.
    pub(super) fn read<'p>(&mut self, files: impl Iterator<Item = &'p Path>) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for path in files {
            let tail = self.files.entry(path.to_owned()).or_default();
            // What cannot be read now is read at the next look.
            let _ = tail.read(path, |tail, text| {
                if let Some((key, state)) = tail.record(text) {
                    names.insert(line(&key.1));
                    self.cases.insert(key, state);
                }
            });
        }
        names
    }

    /// The event that says how far the run is.
    pub(super) fn shown(&self, run: &str, is_written: bool, cases: &BTreeSet<String>) -> Value {
        let count = |state| self.cases.values().filter(|it| **it == state).count();
        let planned: usize = self.files.values().map(|tail| tail.planned).sum();
        json!({
            "run": run, "running": is_written, "cases": self.cases.len(), "planned": planned.max(self.cases.len()),
            "passed": count("passed"), "failed": count("failed"), "skipped": count("skipped"),
            "others": count("other"), "unfinished": count("unfinished"),
            "names": cases.iter().take(20).collect::<Vec<_>>(),
        })
    }
}

impl Tail {
    fn read(&mut self, path: &Path, mut record: impl FnMut(&mut Self, &[u8])) -> std::io::Result<()> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut piece = vec![0; PIECE];
        loop {
            let read = file.read(&mut piece)?;
            if read == 0 {
                return Ok(());
            }
            self.offset += read as u64;
            let mut rest = &piece[..read];
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let mut text = std::mem::take(&mut self.rest);
                text.extend_from_slice(&rest[..end]);
                record(self, &text);
                rest = &rest[end + 1..];
            }
            self.rest.extend_from_slice(rest);
        }
    }

    /// The case that a record is about, and its state then.
    fn record(&mut self, text: &[u8]) -> Option<(Key, &'static str)> {
        // Transcripts and scores are long, and say nothing of the state.
        if text.starts_with(b"{\"record\":\"ran\"") || text.starts_with(b"{\"record\":\"scored\"") {
            return None;
        }
        let line: Line<'_> = serde_json::from_slice(text).ok()?;
        match &*line.record {
            "head" => {
                let (package, binary) = (line.package.unwrap_or_default(), line.binary.unwrap_or_default());
                self.process = format!("{package} {binary}");
                None
            }
            "planned" => {
                self.planned = line.cases;
                None
            }
            "started" => {
                let key = (self.process.clone(), line.name?, line.label.unwrap_or_default());
                self.tests.insert(line.test, key.clone());
                Some((key, "unfinished"))
            }
            "decided" => {
                let verdict = line.verdict?;
                let is = verdict["is"].as_str().or(verdict.as_str())?;
                let state = match is {
                    "passed" => "passed",
                    "failed" => "failed",
                    "skipped" => "skipped",
                    _ => "other",
                };
                Some((self.tests.get(&line.test)?.clone(), state))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_journal_that_grows_in_pieces_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "").unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        let mut followed = Followed::default();
        let mut after = |text: &str| {
            file.write_all(text.as_bytes()).unwrap();
            let names: Vec<String> = followed.read([path.as_path()].into_iter()).into_iter().collect();
            let shown = followed.shown("r", true, &BTreeSet::new());
            (
                names.join(","),
                [&shown["planned"], &shown["passed"], &shown["unfinished"]].map(|it| it.as_u64().unwrap()),
            )
        };
        assert_eq!(
            after("{\"record\":\"head\",\"package\":\"p\"}\n{\"record\":\"planned\",\"cases\":3}\n"),
            (String::new(), [3, 0, 0])
        );
        assert_eq!(after("{\"record\":\"started\",\"test\":1,\"na"), (String::new(), [3, 0, 0]));
        assert_eq!(after("me\":\"a\u{202e}\"}\nno json\n"), ("a\\u{202e}".to_owned(), [3, 0, 1]));
        assert_eq!(after("{\"record\":\"ran\",\"test\":1}\n"), (String::new(), [3, 0, 1]));
        let decided = "{\"record\":\"decided\",\"test\":1,\"verdict\":{\"is\":\"passed\"}}\n";
        assert_eq!(after(decided), ("a\\u{202e}".to_owned(), [3, 1, 0]));
    }
}
