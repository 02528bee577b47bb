//! Reading the files of runs: line by line, so that no file has to fit into memory.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use eval_core::Verdict;
use eval_core::journal::file_names::{MISSING_PARTS, is_journal};
use eval_core::journal::{Beside, Head, Listed, SCHEMA, Started};

use super::attempts::{Attempts, Keep};
use super::checked_lines::{Line, Lines, Order, check};
use super::read::{Attempt, Listing, ReadRunError, RecordedRun, RecordedTest, UnreadableLine};
use super::record::{Record, RecordError, kind};

#[cfg(doc)]
use eval_core::{journal::Scored, report::Transcript};

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
        read(folders, Keep::All)
    }

    /// Like [`read_all`](Self::read_all), but without the texts of agents and judges: a [`Transcript`] holds
    /// only its error, and a [`Scored`] only the usage of judges. A journal of any size takes little memory.
    pub fn outline(folders: &[impl AsRef<Path>]) -> Result<Self, ReadRunError> {
        read(folders, Keep::Outline)
    }

    /// The processes of the journals. A copied folder has the same ones.
    #[doc(hidden)]
    pub fn process_ids(&self) -> HashSet<ProcessId> {
        self.processes.iter().map(|head| ProcessId::of(head)).collect()
    }
}

/// A process that wrote a journal: the id of its run, its own, and when it began.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProcessId(String, u32, SystemTime);

impl ProcessId {
    fn of(head: &Head) -> Self {
        Self(head.run.clone(), head.pid, head.started)
    }
}

fn read(folders: &[impl AsRef<Path>], keep: Keep) -> Result<RecordedRun, ReadRunError> {
    let mut reading = Reading { keep, ..Reading::default() };
    let mut earlier: HashSet<ProcessId> = HashSet::new();
    for folder in folders {
        let begin = reading.run.processes.len();
        for file in files(folder.as_ref())? {
            reading.file(&file)?;
        }
        let processes: HashSet<_> =
            reading.run.processes[begin..].iter().map(|head| ProcessId::of(head)).collect();
        if !earlier.is_disjoint(&processes) {
            return Err(ReadRunError::Repeated(folder.as_ref().to_owned()));
        }
        earlier.extend(processes);
        reading.run.missing_parts.extend(missing_parts(folder.as_ref())?);
    }
    Ok(reading.finish())
}

/// The journals of a folder, by name. Only regular files are journals: opening a pipe would wait forever.
fn files(folder: &Path) -> Result<Vec<PathBuf>, ReadRunError> {
    let failed = ReadRunError::io(folder);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(&failed)? {
        let path = entry.map_err(&failed)?.path();
        if is_journal(&path) && fs::metadata(&path).is_ok_and(|found| found.is_file()) {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(ReadRunError::NoJournal(folder.to_owned()));
    }
    files.sort_unstable();
    Ok(files)
}

fn missing_parts(folder: &Path) -> Result<Vec<String>, ReadRunError> {
    let path = folder.join(MISSING_PARTS);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(ReadRunError::io(&path)(error)),
    }
}

#[derive(Default)]
struct Reading {
    keep: Keep,
    run: RecordedRun,
    #[expect(clippy::vec_box, reason = "they are as they were made")]
    attempts: Vec<Box<Attempt>>,
    /// The processes of hand-written tests and programs that recorded their end.
    ended: Vec<Arc<Head>>,
    /// The processes whose incomplete last line may be the beginning of a test, and the name of the test if it is complete.
    torn_starts: Vec<(Arc<Head>, Option<String>)>,
}

impl Reading {
    fn file(&mut self, path: &Path) -> Result<(), ReadRunError> {
        let mut lines = Lines::open(path)?;
        let first = match lines.next()? {
            Line::Whole { text, .. } if !matches!(text, Ok([])) => head(text),
            cut => {
                self.run.torn += usize::from(matches!(cut, Line::Torn([_, ..])));
                // A process opens its journal to begin a test, and the record of this test is lost.
                self.run.lost += 1;
                return Ok(());
            }
        };
        let head = match first {
            Ok(head) => Arc::new(head),
            Err(error) => {
                self.unreadable(path, 1, error);
                return Ok(());
            }
        };
        if !self.run.ids.contains(&head.run) {
            self.run.ids.push(head.run.clone());
        }
        self.run.processes.push(Arc::clone(&head));
        let mut order = Order::behind_the_head();
        let file: Arc<Path> = path.into();
        let mut attempts = Attempts::new(self.keep, Arc::clone(&head), file);
        let torn = loop {
            let (number, text) = match lines.next()? {
                Line::Torn(torn) => break torn,
                Line::Whole { text: Ok([]), .. } => continue,
                Line::Whole { number, text } => (number, text),
            };
            let added = check(text).and_then(|(sealed_as, record)| {
                let gap = order.check(sealed_as)?;
                record.and_then(|record| attempts.add(record)).and(gap.map_or(Ok(()), Err))
            });
            if let Err(error) = added {
                self.unreadable(path, number, error);
            }
        };
        self.run.torn += usize::from(!torn.is_empty());
        if !torn.is_empty() && !is_of_a_begun_test(torn) {
            // A program may run a case of the same name again.
            let name = name_in(torn).filter(|_| attempts.planned.is_empty());
            self.torn_starts.push((Arc::clone(&head), name));
        }
        self.what_was_to_run(&head, &mut attempts);
        self.attempts.append(&mut attempts.all);
        Ok(())
    }

    fn what_was_to_run(&mut self, head: &Arc<Head>, attempts: &mut Attempts) {
        let mut begun: HashMap<&str, usize> = HashMap::new();
        for attempt in attempts.all.iter().filter(|attempt| attempt.started.of_program) {
            *begun.entry(&attempt.started.name).or_default() += 1;
        }
        let is_of_program = !begun.is_empty() || !attempts.planned.is_empty();
        // A program may run a case several times.
        let never_began = attempts.planned.iter().filter(|name| match begun.get_mut(name.as_str()) {
            Some(times) if *times > 0 => {
                *times -= 1;
                false
            }
            _ => true,
        });
        self.run.never_began.extend(never_began.cloned());
        for Beside { binary, sets, .. } in attempts.beside.drain(..) {
            let listing = Listing { package: head.package.clone(), binary: Some(binary), sets };
            self.run.beside.push((Arc::clone(head), listing));
        }
        match attempts.listed.take() {
            Some(Listed { sets, .. }) => {
                let (package, binary) = (head.package.clone(), head.binary.clone());
                self.run.listings.push(Listing { package, binary, sets });
            }
            None if is_of_program && attempts.has_ended => self.ended.push(Arc::clone(head)),
            // `cargo evalset run` has `again`. It makes one call and does not record its end.
            None if is_of_program && head.again.is_some() => {}
            None if is_of_program => self.run.unended.push(Arc::clone(head)),
            None => self.run.unlisted.push(Arc::clone(head)),
        }
    }

    fn unreadable(&mut self, file: &Path, line: usize, error: RecordError) {
        self.run.unreadable.push(UnreadableLine { file: file.to_owned(), line, error });
    }

    fn finish(self) -> RecordedRun {
        let Self { mut run, attempts, torn_starts, ended, .. } = self;
        run.tests = tests_of(attempts);
        if !torn_starts.is_empty() {
            let tests = run.tests.iter();
            let begun: HashSet<_> = tests.map(|test| (test.package(), test.binary(), test.name())).collect();
            let is_lost = |(head, name): &&(Arc<Head>, Option<String>)| {
                let (package, binary) = (head.package.as_deref(), head.binary.as_deref());
                name.as_deref().is_none_or(|name| !begun.contains(&(package, binary, name)))
            };
            run.lost += torn_starts.iter().filter(is_lost).count();
        }
        let mut last_attempts = HashMap::new();
        for head in &ended {
            let last = last_attempts.entry(process(head)).or_default();
            *last = head.attempt().max(*last);
        }
        run.unended
            .retain(|head| last_attempts.get(&process(head)).is_none_or(|last| *last <= head.attempt()));
        for test in &mut run.tests {
            test.attempts.sort_by_key(|attempt| (rank(attempt), badness(attempt), attempt.started.at));
        }
        run.tests.sort_by(|a, b| order(a).cmp(&order(b)));
        run
    }
}

/// The identity of a process over its attempts. Under nextest, the arguments name the test.
fn process(head: &Head) -> (Option<&str>, Option<&str>, &[String]) {
    (head.package.as_deref(), head.binary.as_deref(), &head.args)
}

/// The number by which an attempt counts. A skipped retry checked nothing, so it counts least and hides no
/// earlier attempt.
fn rank(attempt: &Attempt) -> u32 {
    let is_skipped = attempt.decided.as_ref().is_some_and(|it| matches!(it.verdict, Verdict::Skipped(_)));
    if is_skipped && attempt.started.attempt > 1 { 0 } else { attempt.started.attempt }
}

/// The rank of an attempt by its verdict, greater for worse ones. Clocks do not tell which of two processes
/// counts, so the worse one does.
fn badness(attempt: &Attempt) -> u8 {
    match attempt.decided.as_ref().map(|decided| &decided.verdict) {
        Some(Verdict::Passed | Verdict::Informational) => 0,
        Some(Verdict::Skipped(_)) => 1,
        Some(Verdict::Failed) => 2,
        Some(Verdict::NotEvaluated(_)) => 3,
        Some(_) => 4,
        None => 5,
    }
}

fn order(test: &RecordedTest) -> impl Ord + '_ {
    let last = test.last().map(|attempt| &attempt.started);
    let location = last.map(|Started { file, line, column, .. }| (file, line, column));
    let began = last.map(|Started { label, at, test, .. }| (label, at, test));
    (test.package(), test.binary(), location, test.name(), began, test.last().map(|attempt| &attempt.file))
}

fn head(line: Result<&[u8], usize>) -> Result<Head, RecordError> {
    match check(line)? {
        (1, Ok(Record::Head(Head { schema, evalset, .. }))) if schema != SCHEMA => {
            Err(RecordError::OtherSchema { schema, evalset })
        }
        (1, Ok(Record::Head(head))) => Ok(head),
        (1, Err(error)) => Err(error),
        _ => Err(RecordError::Misplaced("a journal begins with its head".to_owned())),
    }
}

/// Whether an incomplete line is about a test whose beginning is in a complete line before it.
fn is_of_a_begun_test(torn: &[u8]) -> bool {
    kind(torn).is_some_and(|kind| ["turn", "ran", "scored", "broke", "decided"].contains(&kind))
}

/// The name of the test in an incomplete line, if the name is complete. Names of tests need no escapes.
fn name_in(torn: &[u8]) -> Option<String> {
    let (_, rest) = std::str::from_utf8(torn).ok()?.split_once("\"name\":\"")?;
    Some(rest.split_once('"')?.0.to_owned())
}

/// The identity of a case: its source, its meaning and the label of its runs. A case that differs in any of
/// these is another case, even with an equal name.
fn identity(Attempt { head, started, .. }: &Attempt) -> impl Ord + '_ {
    let source = (&head.package, &head.binary, &started.name, &started.file);
    (source, &started.asks, &started.expects, &started.label)
}

/// The tests of these attempts, each with its attempts in the order in which they were read.
///
/// A program can run the same case several times, and each time is a test of its own. A test of the attribute
/// runs once in a process, so the attempts of several processes are at one test.
#[expect(clippy::vec_box, reason = "they are large, and sorted")]
pub(super) fn tests_of(mut attempts: Vec<Box<Attempt>>) -> Vec<RecordedTest> {
    attempts.sort_by(|a, b| identity(a).cmp(&identity(b)));
    let mut tests: Vec<RecordedTest> = Vec::new();
    let mut first_of_case = 0;
    // How often a program began the case, by the number of the attempt.
    let mut times: HashMap<u32, usize> = HashMap::new();
    for attempt in attempts {
        let before = tests.last().and_then(|test| test.attempts.first());
        if before.is_some_and(|before| identity(before) != identity(&attempt)) {
            first_of_case = tests.len();
            times.clear();
        }
        let mut time = 0;
        if attempt.started.of_program {
            let begun = times.entry(attempt.started.attempt).or_default();
            time = *begun;
            *begun += 1;
        }
        match tests.get_mut(first_of_case + time) {
            Some(test) => test.attempts.push(*attempt),
            None => tests.push(RecordedTest { attempts: vec![*attempt] }),
        }
    }
    tests
}
