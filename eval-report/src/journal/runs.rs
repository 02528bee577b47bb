//! Runs by their ids, their revisions, and journals that grow.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use eval_core::journal::Revision;
use eval_core::journal::file_names::{LATEST, MARKER};
use eval_core::journal::runs::{RunDir, latest_id, read_small, runs, runs_named};
use eval_format::Value;

use super::record::{Record, kind};

/// The run of this id, or the newest one for `latest`; `None` if there is none. The id is compared with the
/// names of folders, and is never part of a path.
pub fn find_run(folder: &Path, id: &str) -> io::Result<Option<RunDir>> {
    let found = if id == LATEST { runs(folder)? } else { runs_named(folder, |name| name == id)? };
    Ok(found.into_iter().next())
}

/// The run that was joined last, in a folder such as `target/evalset`; `None` if it is not known or was
/// removed.
pub fn latest(folder: &Path) -> Option<RunDir> {
    let id = latest_id(folder)?;
    find_run(folder, &id).ok()?
}

/// The revision that was checked out when a run began; `None` if its folder does not tell.
pub fn revision_of_run(folder: &Path) -> Option<Revision> {
    let marker = Value::parse(&read_small(&folder.join(MARKER))?).ok()?;
    Some(Revision {
        commit: marker["revision"].as_str()?.to_owned(),
        branch: marker["branch"].as_str().map(str::to_owned),
    })
}

/// The position up to which a journal was read.
#[derive(Debug, Default)]
pub struct Tail {
    offset: u64,
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
}

impl Tail {
    /// Reads the lines that were added to the journal, and passes their records to `each` in order. It skips
    /// `ran` and `scored`: they are long, and do not change the state of a test.
    ///
    /// It skips unreadable lines too: [`RecordedRun`](super::RecordedRun) decides whether a line is valid.
    pub fn read(&mut self, path: &Path, mut each: impl FnMut(Record)) -> io::Result<()> {
        let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
        file.seek(SeekFrom::Start(self.offset))?;
        loop {
            self.offset += file.read_until(b'\n', &mut self.rest)? as u64;
            if self.rest.last() != Some(&b'\n') {
                return Ok(());
            }
            if !matches!(kind(&self.rest), Some("ran" | "scored"))
                && let Ok(record) = Record::parse(&self.rest)
            {
                each(record);
            }
            self.rest.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_run_is_found_by_its_id_and_the_newest_one_without() {
        let temporary = tempfile::TempDir::new().unwrap();
        let folder = temporary.path();
        for (id, hour) in [("a", 1), ("c", 3), ("b", 2)] {
            fs::create_dir(folder.join(id)).unwrap();
            let marker = format!("{{\"run\":\"{id}\",\"started\":\"2026-11-22T0{hour}:00:00.000Z\"}}");
            fs::write(folder.join(id).join(MARKER), marker).unwrap();
        }
        fs::create_dir(folder.join("empty")).unwrap();
        for (id, found) in
            [("b", Some("b")), ("latest", Some("c")), ("empty", None), ("x", None), ("../runs", None)]
        {
            assert_eq!(find_run(folder, id).unwrap().map(|run| run.id).as_deref(), found, "{id}");
        }
        assert_eq!(find_run(&folder.join("missing"), "latest").unwrap(), None);
        assert_eq!(latest(folder), None);
        fs::write(folder.join("latest"), "b").unwrap();
        assert_eq!(latest(folder).map(|run| run.id).as_deref(), Some("b"));
    }
}

#[cfg(test)]
mod tail_tests {
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
        assert!(after(&"x".repeat((1 << 21) + 5)).is_empty());
        assert_eq!(after(&format!("\n{decided}")), "decided passed");
    }
}
