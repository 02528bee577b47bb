//! Reading runs: all files of a folder, merged into tests.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

use super::parse::{Record, RecordError};
use super::record::{Decided, Head, Ran, Scored, Started};

/// A run as its journal records it, complete or not.
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
    /// The ids of the runs that were read: one, unless several runs were read as one.
    pub ids: Vec<String>,
    /// The tests, sorted by package, binary, file and position in the file.
    pub tests: Vec<RecordedTest>,
    /// How many files end in an incomplete line: the process was killed, or the disk was full, while it wrote.
    pub torn: usize,
    /// How many incomplete lines may be about a test that is not among [`tests`](Self::tests).
    pub lost: usize,
    /// Other lines that could not be read.
    pub unreadable: Vec<UnreadableLine>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableLine {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub error: RecordError,
}

/// Why a run cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadRunError {
    /// A file or a folder cannot be read.
    Io {
        /// The file or the folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The folder holds no journal.
    NoJournal(PathBuf),
}

impl ReadRunError {
    /// Adds the path to an error of the system.
    fn io(path: &Path) -> impl Fn(io::Error) -> Self {
        |source| Self::Io { path: path.to_owned(), source }
    }
}

impl fmt::Display for ReadRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "cannot read `{}`: {source}", path.display()),
            Self::NoJournal(path) => write!(f, "`{}` holds no journal (no file `*.jsonl`)", path.display()),
        }
    }
}

impl std::error::Error for ReadRunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::NoJournal(_) => None,
        }
    }
}

/// A test with everything that was recorded of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedTest {
    /// The package of the test; `None` for a program that cargo did not start.
    pub package: Option<String>,
    /// The test binary; `None` if the system did not tell its name.
    pub binary: Option<String>,
    /// The path of the test, as cargo shows it.
    pub name: String,
    /// Each time the test was started, in order. There are several if the test runner retried it, or if it ran again in the
    /// same run.
    pub attempts: Vec<Attempt>,
}

impl RecordedTest {
    /// The last attempt: the one that counts.
    pub fn last(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// Whether the last attempt has no verdict: its process was killed, or still runs.
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
    /// The file that records it.
    pub file: Arc<Path>,
    /// How it began.
    pub started: Started,
    /// The runs of the case, in the order in which they ended.
    pub evaluations: Vec<Evaluation>,
    /// How it ended; `None` if its process was killed, or still runs.
    pub decided: Option<Decided>,
}

/// A run of a case.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// What happened.
    pub ran: Ran,
    /// How it scored; `None` if it was not scored: it ended in an error, or its process was killed.
    pub scored: Option<Scored>,
}

impl RecordedRun {
    /// Reads the folder of a run.
    ///
    /// Fails if the folder or a file in it cannot be read, or if it holds no journal. Lines that cannot be read are no
    /// error: they are in [`torn`](Self::torn) and [`unreadable`](Self::unreadable).
    pub fn read(folder: &Path) -> Result<Self, ReadRunError> {
        Self::read_all(&[folder])
    }

    /// Reads several folders as one run: a suite that was split over machines.
    pub fn read_all(folders: &[impl AsRef<Path>]) -> Result<Self, ReadRunError> {
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
fn files(folder: &Path) -> Result<Vec<PathBuf>, ReadRunError> {
    let failed = ReadRunError::io(folder);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(&failed)? {
        let path = entry.map_err(&failed)?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(ReadRunError::NoJournal(folder.to_owned()));
    }
    files.sort_unstable();
    Ok(files)
}

/// Package, binary and name of a test.
type Key = (Option<String>, Option<String>, String);

#[derive(Default)]
struct Reading {
    run: RecordedRun,
    tests: HashMap<Key, Vec<Attempt>>,
    /// The processes whose incomplete last line may be the beginning of a test, and the name of the test if it is complete.
    torn_starts: Vec<(Arc<Head>, Option<String>)>,
}

impl Reading {
    fn file(&mut self, path: &Path) -> Result<(), ReadRunError> {
        let bytes = fs::read(path).map_err(ReadRunError::io(path))?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let (whole, torn) = bytes.split_at(end);
        self.run.torn += usize::from(!torn.is_empty());
        let mut lines = whole.split(|byte| *byte == b'\n').enumerate().map(|(at, line)| (at + 1, line));
        let Some((_, first)) = lines.next().filter(|(_, line)| !line.is_empty()) else {
            // A process that has a journal has begun a test.
            self.run.lost += 1;
            return Ok(());
        };
        let head = match head(first) {
            Ok(head) => Arc::new(head),
            Err(error) => {
                self.unreadable(path, 1, error);
                return Ok(());
            }
        };
        if !self.run.ids.contains(&head.run) {
            self.run.ids.push(head.run.clone());
        }
        if !torn.is_empty() && !is_of_a_begun_test(torn) {
            self.torn_starts.push((Arc::clone(&head), name_in(torn)));
        }
        let mut attempts = Attempts { head, file: path.into(), indices: HashMap::new(), all: Vec::new() };
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            if let Err(error) = parse(line).and_then(|record| attempts.add(record)) {
                self.unreadable(path, number, error);
            }
        }
        for attempt in attempts.all {
            let Head { package, binary, .. } = &*attempt.head;
            let key = (package.clone(), binary.clone(), attempt.started.name.clone());
            self.tests.entry(key).or_default().push(attempt);
        }
        Ok(())
    }

    fn unreadable(&mut self, file: &Path, line: usize, error: RecordError) {
        self.run.unreadable.push(UnreadableLine { file: file.to_owned(), line, error });
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
        run.tests.sort_by(|a, b| order(a).cmp(&order(b)));
        run
    }
}

/// What tests are sorted by.
fn order(test: &RecordedTest) -> impl Ord + '_ {
    let location = test.last().map(|attempt| {
        let Started { file, line, column, .. } = &attempt.started;
        (file, line, column)
    });
    (&test.package, &test.binary, location, &test.name)
}

fn parse(line: &[u8]) -> Result<Record, RecordError> {
    Record::parse(std::str::from_utf8(line).map_err(RecordError::NotUtf8)?)
}

fn head(line: &[u8]) -> Result<Head, RecordError> {
    match parse(line)? {
        Record::Head(head) => RecordError::check_schema(&head).map(|()| head),
        _ => Err(misplaced("a journal begins with its head")),
    }
}

fn misplaced(what: &str) -> RecordError {
    RecordError::Misplaced(what.to_owned())
}

/// Whether an incomplete line is about a test whose beginning stands in a complete line before it.
fn is_of_a_begun_test(torn: &[u8]) -> bool {
    ["ran", "scored", "broke", "decided"]
        .iter()
        .any(|kind| torn.starts_with(format!("{{\"record\":\"{kind}\"").as_bytes()))
}

/// The name of the test in an incomplete line, if the name is complete. Names of tests hold nothing that is escaped.
fn name_in(torn: &[u8]) -> Option<String> {
    let (_, rest) = std::str::from_utf8(torn).ok()?.split_once("\"name\":\"")?;
    Some(rest.split_once('"')?.0.to_owned())
}

/// The tests of one file, in the order in which they began.
struct Attempts {
    head: Arc<Head>,
    file: Arc<Path>,
    /// The index of each test by its number.
    indices: HashMap<u32, usize>,
    all: Vec<Attempt>,
}

impl Attempts {
    fn add(&mut self, record: Record) -> Result<(), RecordError> {
        match record {
            Record::Head(_) => return Err(misplaced("a second head")),
            Record::Unknown => {}
            Record::Started(started) => {
                self.indices.insert(started.test, self.all.len());
                let (head, file) = (Arc::clone(&self.head), Arc::clone(&self.file));
                self.all.push(Attempt { head, file, started, evaluations: Vec::new(), decided: None });
            }
            Record::Ran(ran) => self.of(ran.test)?.evaluations.push(Evaluation { ran, scored: None }),
            Record::Scored(scored) => {
                let run = self.evaluation(scored.test, scored.evaluation)?;
                run.ok_or_else(|| misplaced("a score of a run that is not recorded"))?.scored = Some(scored);
            }
            Record::Broke(broke) => {
                let run = self.evaluation(broke.test, broke.evaluation)?;
                let run = run.ok_or_else(|| misplaced("an error of a run that is not recorded"))?;
                run.ran.transcript.error = Some(broke.error);
            }
            Record::Decided(decided) => {
                let attempt = self.of(decided.test)?;
                attempt.decided = Some(decided);
            }
        }
        Ok(())
    }

    /// An evaluation of a test; `None` if it is not recorded.
    fn evaluation(&mut self, test: u32, number: u32) -> Result<Option<&mut Evaluation>, RecordError> {
        // A run is scored right after it ran, unless several run at once.
        Ok(self.of(test)?.evaluations.iter_mut().rev().find(|evaluation| evaluation.ran.evaluation == number))
    }

    fn of(&mut self, test: u32) -> Result<&mut Attempt, RecordError> {
        let attempt = self.indices.get(&test).and_then(|index| self.all.get_mut(*index));
        attempt.ok_or_else(|| RecordError::Misplaced(format!("test {test} did not begin")))
    }
}
