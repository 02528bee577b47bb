//! The numbers that a page shows while tests run, from the records added to journals.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use eval_report::journal::{Record, Tail};
use serde_json::{Value, json};

use crate::page::line;

#[derive(Debug, Default)]
pub(super) struct Followed {
    files: HashMap<PathBuf, Journal>,
    /// The name of the last verdict of each case; `None` while it has none.
    cases: HashMap<Key, Option<&'static str>>,
}

/// The identity of a case in several attempts: the package, the binary, the name, the label.
type Key = (Option<String>, Option<String>, String, Option<String>);

#[derive(Debug, Default)]
struct Journal {
    tail: Tail,
    package: Option<String>,
    binary: Option<String>,
    planned: usize,
    tests: HashMap<u32, Key>,
}

impl Followed {
    /// Reads the records added to files, and returns the names of their cases.
    pub(super) fn read<'p>(&mut self, files: impl Iterator<Item = &'p Path>) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for path in files {
            let Journal { tail, package, binary, planned, tests } =
                self.files.entry(path.to_owned()).or_default();
            // A file that cannot be read now is read at the next poll.
            let _ = tail.read(path, |record| {
                let (key, verdict) = match record {
                    Record::Head(head) => {
                        (*package, *binary) = (head.package, head.binary);
                        return;
                    }
                    Record::Planned(more) => {
                        *planned = planned.saturating_add(more.cases.len());
                        return;
                    }
                    Record::Started(started) => {
                        let label = started.label.clone();
                        let key = (package.clone(), binary.clone(), started.name, label);
                        tests.insert(started.test, key.clone());
                        (key, None)
                    }
                    Record::Decided(decided) => {
                        let Some(key) = tests.get(&decided.test) else { return };
                        (key.clone(), Some(decided.verdict.name()))
                    }
                    _ => return,
                };
                names.insert(line(&key.2));
                self.cases.insert(key, verdict);
            });
        }
        names
    }

    pub(super) fn shown(&self, run: &str, is_written: bool, cases: &BTreeSet<String>) -> Value {
        let count = |verdict| self.cases.values().filter(|it| **it == verdict).count();
        let planned: usize = self.files.values().map(|journal| journal.planned).sum();
        let [passed, failed, skipped, unfinished] =
            [Some("passed"), Some("failed"), Some("skipped"), None].map(count);
        json!({
            "run": run, "running": is_written, "cases": self.cases.len(), "planned": planned.max(self.cases.len()),
            "passed": passed, "failed": failed, "skipped": skipped,
            "others": self.cases.len() - passed - failed - skipped - unfinished, "unfinished": unfinished,
            "names": cases.iter().take(20).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;

    use eval_core::journal::{SCHEMA, sealed_line};

    use super::*;

    #[test]
    fn cases_are_counted_by_their_last_verdict() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "").unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        let mut followed = Followed::default();
        let mut after = |records: &[Value]| {
            for record in records {
                let mut record = record.clone();
                record["at"] = json!("2026-11-22T02:31:07.250Z");
                write!(file, "{}", sealed_line(&record, 1)).unwrap();
            }
            let names: Vec<String> = followed.read([path.as_path()].into_iter()).into_iter().collect();
            let shown = followed.shown("r", true, &BTreeSet::new());
            let numbers = ["cases", "planned", "passed", "others", "unfinished"];
            (names.join(","), numbers.map(|it| shown[it].as_u64().unwrap()))
        };
        let head = json!({
            "record": "head", "schema": SCHEMA, "evalset": "0", "run": "r", "pid": 1,
            "started": "2026-11-22T02:31:07.250Z", "env": {}, "package": "p",
        });
        let started = |test, name| json!({ "record": "started", "test": test, "name": name, "eval_id": name, "attempt": 1, "runs": 1, "pass": "mean", "gate": "mean" });
        let decided = |test, verdict: Value| json!({ "record": "decided", "test": test, "verdict": verdict, "elapsed": 1.0 });
        assert_eq!(
            after(&[head, json!({ "record": "planned", "cases": ["a", "b", "c"] })]),
            (String::new(), [0, 3, 0, 0, 0])
        );
        assert_eq!(after(&[started(1, "a\u{202e}")]), ("a\\u{202e}".to_owned(), [1, 3, 0, 0, 1]));
        let error = json!({ "is": "error", "reason": "x", "role": "agent" });
        let both = [started(2, "b"), decided(1, error), decided(7, json!({ "is": "passed" }))];
        assert_eq!(after(&both), ("a\\u{202e},b".to_owned(), [2, 3, 0, 1, 1]));
        // A case that is tried again counts once.
        let again = [
            started(3, "a\u{202e}"),
            decided(3, json!({ "is": "passed" })),
            decided(2, json!({ "is": "passed" })),
        ];
        assert_eq!(after(&again), ("a\\u{202e},b".to_owned(), [2, 3, 2, 0, 0]));
    }
}
