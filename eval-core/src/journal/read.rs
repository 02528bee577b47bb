//! Reading runs: all files of a folder, merged into tests.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::record::{Decided, Head, Ran, Record, SCHEMA, Scored, Started};

/// A run as its journal tells it, complete or not.
///
/// ```
/// use eval_core::journal::RecordedRun;
///
/// let folder = std::env::temp_dir().join("evalset-no-run-here");
/// let error = RecordedRun::read(&folder).unwrap_err();
/// assert!(error.to_string().contains("evalset-no-run-here"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RecordedRun {
    /// The ids of the runs that were read: one, unless folders of several were.
    pub ids: Vec<String>,
    /// The tests, by package, binary, file and place in the file.
    pub tests: Vec<RecordedTest>,
    /// Last lines that were torn: their processes were killed, or their disks were full, while they wrote.
    pub torn: usize,
    /// Torn lines that may have told of a test that is not among [`tests`](Self::tests).
    pub lost: usize,
    /// Lines that could not be read otherwise.
    pub unreadable: Vec<Unreadable>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unreadable {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// A test with everything that was recorded of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedTest {
    /// The package.
    pub package: String,
    /// The test binary.
    pub binary: String,
    /// The path of the test, as cargo shows it.
    pub name: String,
    /// Each time it was started, in order: more than one where the runner retries, or ran it again in the same run.
    pub attempts: Vec<Attempt>,
}

impl RecordedTest {
    /// The last attempt: the one that counts.
    pub fn last(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// Whether the last attempt came to no verdict: its process was killed, or still runs.
    pub fn is_unfinished(&self) -> bool {
        self.last().is_none_or(|attempt| attempt.decided.is_none())
    }
}

/// One time that a test was started.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Attempt {
    /// The process that ran it.
    pub head: Arc<Head>,
    /// The file that tells of it.
    pub file: Arc<Path>,
    /// How it began.
    pub started: Started,
    /// What was run of it, in the order in which it came to its end.
    pub evaluations: Vec<Evaluation>,
    /// How it ended; absent where its process was killed, or still runs.
    pub decided: Option<Decided>,
}

/// A run of a case.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// What happened.
    pub ran: Ran,
    /// How it scored; absent where it broke off before that.
    pub scored: Option<Scored>,
}

impl RecordedRun {
    /// Reads the folder of a run.
    ///
    /// Fails where the folder cannot be read or holds no journal. What cannot be read in a file is in
    /// [`torn`](Self::torn) and [`unreadable`](Self::unreadable).
    pub fn read(folder: &Path) -> io::Result<Self> {
        Self::read_all(&[folder])
    }

    /// Reads several folders as one run: a suite that was split over machines.
    pub fn read_all(folders: &[impl AsRef<Path>]) -> io::Result<Self> {
        let mut reading = Reading::default();
        for folder in folders {
            for file in files(folder.as_ref())? {
                reading.file(&file)?;
            }
        }
        Ok(reading.finish())
    }
}

/// The journals of a folder, by name.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let failed = |error: io::Error| {
        io::Error::new(error.kind(), format!("cannot read `{}`: {error}", folder.display()))
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    if files.is_empty() {
        let message = format!("`{}` holds no journal (no file `*.jsonl`)", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    files.sort_unstable();
    Ok(files)
}

/// Package, binary and name of a test.
type Key = (String, String, String);

#[derive(Default)]
struct Reading {
    run: RecordedRun,
    tests: HashMap<Key, Vec<Attempt>>,
    /// The processes whose last line may have told of a test that began, and its name as far as it is there.
    torn_starts: Vec<(Arc<Head>, Option<String>)>,
}

impl Reading {
    fn file(&mut self, path: &Path) -> io::Result<()> {
        let failed = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot read `{}`: {error}", path.display()))
        };
        let bytes = fs::read(path).map_err(failed)?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let (whole, torn) = bytes.split_at(end);
        self.run.torn += usize::from(!torn.is_empty());
        let mut lines = whole.split(|byte| *byte == b'\n').enumerate().map(|(at, line)| (at + 1, line));
        let Some((_, first)) = lines.next().filter(|(_, line)| !line.is_empty()) else {
            // A process begins its journal when it begins its first test.
            self.run.lost += 1;
            return Ok(());
        };
        let head = match head(first) {
            Ok(head) => Arc::new(head),
            Err(reason) => {
                self.unreadable(path, 1, reason);
                return Ok(());
            }
        };
        if !self.run.ids.contains(&head.run) {
            self.run.ids.push(head.run.clone());
        }
        if !torn.is_empty() && !is_of_a_begun_test(torn) {
            self.torn_starts.push((Arc::clone(&head), name_in(torn)));
        }
        let mut attempts = Attempts { head, file: path.into(), places: HashMap::new(), all: Vec::new() };
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            if let Err(reason) = parse(line).and_then(|record| attempts.add(record)) {
                self.unreadable(path, number, reason);
            }
        }
        for attempt in attempts.all {
            let Head { package, binary, .. } = &*attempt.head;
            let key = (package.clone(), binary.clone(), attempt.started.name.clone());
            self.tests.entry(key).or_default().push(attempt);
        }
        Ok(())
    }

    fn unreadable(&mut self, file: &Path, line: usize, reason: String) {
        self.run.unreadable.push(Unreadable { file: file.to_owned(), line, reason });
    }

    fn finish(self) -> RecordedRun {
        let Self { mut run, tests, torn_starts } = self;
        let is_lost = |(head, name): &(Arc<Head>, Option<String>)| {
            let Head { package, binary, .. } = &**head;
            let key = name.as_ref().map(|name| (package.clone(), binary.clone(), name.clone()));
            key.is_none_or(|key| !tests.contains_key(&key))
        };
        run.lost += torn_starts.iter().filter(|start| is_lost(start)).count();
        run.tests = tests
            .into_iter()
            .map(|((package, binary, name), mut attempts)| {
                attempts.sort_by_key(|attempt| (attempt.started.attempt, attempt.started.at));
                RecordedTest { package, binary, name, attempts }
            })
            .collect();
        run.tests.sort_by(|a, b| place(a).cmp(&place(b)));
        run
    }
}

/// Package, binary, place in the file of the set, and name of a test: tests are sorted by it.
type Place<'a> = (&'a str, &'a str, Option<(Option<&'a str>, Option<usize>, Option<usize>)>, &'a str);

/// Where a test stands among the others.
fn place(test: &RecordedTest) -> Place<'_> {
    let place = test.last().map(|attempt| {
        let Started { file, line, column, .. } = &attempt.started;
        (file.as_deref(), *line, *column)
    });
    (&test.package, &test.binary, place, &test.name)
}

fn parse(line: &[u8]) -> Result<Record, String> {
    Record::parse(std::str::from_utf8(line).map_err(|error| format!("it is not UTF-8: {error}"))?)
}

fn head(line: &[u8]) -> Result<Head, String> {
    match parse(line)? {
        Record::Head(head) if head.schema <= SCHEMA => Ok(head),
        Record::Head(Head { schema, evalset, .. }) => Err(format!(
            "it was written by evalset {evalset}, whose records (schema {schema}) this version does not read; update \
             cargo-evalset"
        )),
        _ => Err("a journal begins with its head".to_owned()),
    }
}

/// Whether the rest of a line tells of a test that a whole line before it told of.
fn is_of_a_begun_test(torn: &[u8]) -> bool {
    ["ran", "scored", "decided"]
        .iter()
        .any(|kind| torn.starts_with(format!("{{\"record\":\"{kind}\"").as_bytes()))
}

/// The name of the test in the rest of a line, where it is whole. Paths of tests hold nothing that is escaped.
fn name_in(torn: &[u8]) -> Option<String> {
    let (_, rest) = std::str::from_utf8(torn).ok()?.split_once("\"name\":\"")?;
    Some(rest.split_once('"')?.0.to_owned())
}

/// The tests of one file, in the order in which they began.
struct Attempts {
    head: Arc<Head>,
    file: Arc<Path>,
    /// The place of each test by its number.
    places: HashMap<u32, usize>,
    all: Vec<Attempt>,
}

impl Attempts {
    fn add(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Head(_) => return Err("a second head".to_owned()),
            Record::Unknown => {}
            Record::Started(started) => {
                self.places.insert(started.test, self.all.len());
                let (head, file) = (Arc::clone(&self.head), Arc::clone(&self.file));
                self.all.push(Attempt { head, file, started, evaluations: Vec::new(), decided: None });
            }
            Record::Ran(ran) => self.of(ran.test)?.evaluations.push(Evaluation { ran, scored: None }),
            Record::Scored(scored) => {
                let attempt = self.of(scored.test)?;
                // A run is scored right after it ran, unless several run at once.
                let mut latest_first = attempt.evaluations.iter_mut().rev();
                let ran = latest_first.find(|ran| ran.ran.evaluation == scored.evaluation);
                ran.ok_or("a score of a run that is not recorded")?.scored = Some(scored);
            }
            Record::Decided(decided) => {
                let attempt = self.of(decided.test)?;
                attempt.decided = Some(decided);
            }
        }
        Ok(())
    }

    fn of(&mut self, test: u32) -> Result<&mut Attempt, String> {
        let place = self.places.get(&test);
        place.and_then(|place| self.all.get_mut(*place)).ok_or_else(|| format!("test {test} did not begin"))
    }
}
