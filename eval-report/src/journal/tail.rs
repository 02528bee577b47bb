//! Reading a journal while it is written: the records that came since the last look.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::record::Record;

/// How far a journal was read.
#[derive(Debug, Default)]
pub struct Tail {
    offset: u64,
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
}

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

/// What runs did and how they scored is long, and says nothing of the state of a test.
const PASSED_OVER: [&[u8]; 2] = [b"{\"record\":\"ran\"", b"{\"record\":\"scored\""];

impl Tail {
    /// Reads what was added to the journal, and hands over its records in order, but for `ran` and `scored`.
    ///
    /// A line that cannot be read is passed over: [`RecordedRun`](super::RecordedRun) decides whether a line is sound.
    pub fn read(&mut self, path: &Path, mut each: impl FnMut(Record)) -> io::Result<()> {
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
            while let Some(end) = memchr::memchr(b'\n', rest) {
                self.rest.extend_from_slice(&rest[..end]);
                if !PASSED_OVER.iter().any(|kind| self.rest.starts_with(kind))
                    && let Ok(record) = Record::parse(&self.rest)
                {
                    each(record);
                }
                self.rest.clear();
                rest = &rest[end + 1..];
            }
            self.rest.extend_from_slice(rest);
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
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a.jsonl");
        assert!(Tail::default().read(&path, |_| ()).is_err());
        fs::write(&path, "").unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        let mut tail = Tail::default();
        let mut after = |text: &str| {
            file.write_all(text.as_bytes()).unwrap();
            let mut said = Vec::new();
            let each = |record| {
                said.push(match record {
                    Record::Planned(planned) => format!("planned {}", planned.cases.join("+")),
                    Record::Started(started) => format!("started {}", started.name),
                    Record::Decided(decided) => format!("decided {}", decided.verdict),
                    other => format!("{other:?}"),
                });
            };
            tail.read(&path, each).unwrap();
            said.join(", ")
        };
        let at = r#""at":"2026-11-22T02:31:07.250Z""#;
        let decided = format!(
            "{{\"record\":\"decided\",\"test\":1,\"verdict\":{{\"is\":\"passed\"}},\"elapsed\":1.0,{at}}}\n"
        );
        for (added, said) in [
            ("", ""),
            (
                "{\"record\":\"planned\",\"cases\":[\"a\",\"b\"]}\n{\"record\":\"planned\",\"cases\":[\"c\"]}\n",
                "planned a+b, planned c",
            ),
            ("{\"record\":\"started\",\"test\":1,\"na", ""),
            (
                "me\":\"a\",\"eval_id\":\"a\",\"attempt\":1,\"runs\":1,\"pass\":\"mean\",\"gate\":\"mean\",",
                "",
            ),
            (&format!("{at}}}\nno json\n\n\u{0}\n"), "started a"),
            ("{\"record\":\"ran\",\"test\":1}\n{\"record\":\"scored\"}\n", ""),
            (&format!("{decided}{decided}"), "decided passed, decided passed"),
            ("", ""),
        ] {
            assert_eq!(after(added), said, "{added}");
        }
        assert!(after(&"x".repeat(PIECE * 2 + 5)).is_empty());
        assert_eq!(after(&format!("\n{decided}")), "decided passed");
    }
}
