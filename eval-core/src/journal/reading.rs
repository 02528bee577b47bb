//! Reading the files of runs: line by line, so that no file has to fit into memory.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::any_record::Record;
use super::checked_lines::{Line, Lines, Order, check};
use super::file_names::{MISSING_PARTS, is_journal};
use super::identity::Cases;
use super::parse::{Keep, RecordError};
use super::passed;
use super::read::{Attempt, Evaluation, Listing, ReadRunError, RecordedRun, RecordedTest, UnreadableLine};
use super::record::{Decided, Head, Listed, Started};
use crate::verdict::Verdict;

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

    /// Like [`read_all`](Self::read_all), but without what agents and judges said: [`Transcript`](crate::report::Transcript)s
    /// hold only their error, and [`Scored`](super::Scored) only what was asked of judges. A journal of any size takes little memory.
    pub fn outline(folders: &[impl AsRef<Path>]) -> Result<Self, ReadRunError> {
        read(folders, Keep::Outline)
    }
}

/// Reads several folders as one run.
fn read(folders: &[impl AsRef<Path>], keep: Keep) -> Result<RecordedRun, ReadRunError> {
    let mut reading = Reading {
        keep,
        run: RecordedRun::default(),
        cases: Cases::default(),
        texts: Texts::default(),
        torn_starts: Vec::new(),
    };
    for folder in folders {
        for file in files(folder.as_ref())? {
            reading.file(&file)?;
        }
        reading.run.missing_parts.extend(missing_parts(folder.as_ref())?);
    }
    Ok(reading.finish())
}

/// The journals of a folder, by name. What is no regular file is none: opening a pipe would wait forever.
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

/// What whoever copied the run says is not there.
fn missing_parts(folder: &Path) -> Result<Vec<String>, ReadRunError> {
    let path = folder.join(MISSING_PARTS);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(ReadRunError::io(&path)(error)),
    }
}

struct Reading {
    keep: Keep,
    run: RecordedRun,
    cases: Cases,
    texts: Texts,
    /// The processes whose incomplete last line may be the beginning of a test, and the name of the test if it is complete.
    torn_starts: Vec<(Arc<Head>, Option<String>)>,
}

impl Reading {
    fn file(&mut self, path: &Path) -> Result<(), ReadRunError> {
        let mut lines = Lines::open(path)?;
        let first = match lines.next()? {
            Line::Whole { text: Ok([]), .. } | Line::Torn([]) => None,
            Line::Whole { text, .. } => Some(head(text)),
            Line::Torn(_) => {
                self.run.torn += 1;
                None
            }
        };
        let Some(first) = first else {
            // A process that has a journal has begun a test.
            self.run.lost += 1;
            return Ok(());
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
        let mut attempts = Attempts {
            keep: self.keep,
            head: Arc::clone(&head),
            file,
            indices: HashMap::new(),
            all: Vec::new(),
            planned: Vec::new(),
            listed: None,
        };
        let torn = loop {
            let (number, text) = match lines.next()? {
                Line::Torn(torn) => break torn,
                Line::Whole { text: Ok([]), .. } => continue,
                Line::Whole { number, text } => (number, text),
            };
            let added = check(text, self.keep).and_then(|(sealed_as, record)| {
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
        for mut attempt in attempts.all {
            self.texts.share(&mut attempt.started);
            passed::decide(&mut attempt);
            match self.keep {
                Keep::All => restore_criteria(&mut attempt),
                Keep::Outline => shorten(&mut attempt),
            }
            self.cases.add(*attempt);
        }
        Ok(())
    }

    /// Adds what the process says it was to run.
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
        match attempts.listed.take() {
            Some(Listed { sets }) => {
                let (package, binary) = (head.package.clone(), head.binary.clone());
                self.run.listings.push(Listing { package, binary, sets });
            }
            None if is_of_program => {}
            None => self.run.unlisted.push(Arc::clone(head)),
        }
    }

    fn unreadable(&mut self, file: &Path, line: usize, error: RecordError) {
        self.run.unreadable.push(UnreadableLine { file: file.to_owned(), line, error });
    }

    fn finish(self) -> RecordedRun {
        let Self { mut run, cases, torn_starts, .. } = self;
        run.tests = cases.into_tests();
        let known =
            if torn_starts.is_empty() { HashSet::new() } else { run.tests.iter().map(names).collect() };
        let is_lost = |(head, name): &(Arc<Head>, Option<String>)| {
            let Head { package, binary, .. } = &**head;
            name.as_ref()
                .is_none_or(|name| !known.contains(&(package.as_deref(), binary.as_deref(), name.as_str())))
        };
        run.lost += torn_starts.iter().filter(|start| is_lost(start)).count();
        for test in &mut run.tests {
            test.attempts
                .sort_by_key(|attempt| (attempt.started.attempt, badness(attempt), attempt.started.at));
        }
        run.tests.sort_by(|a, b| order(a).cmp(&order(b)));
        run
    }
}

/// Package, binary and name of a case.
fn names(of: &RecordedTest) -> (Option<&str>, Option<&str>, &str) {
    (of.package(), of.binary(), of.name())
}

/// Texts that all cases of a set say alike, each in memory once.
#[derive(Default)]
struct Texts(HashSet<Arc<str>>);

impl Texts {
    fn share(&mut self, started: &mut Started) {
        let Started { label, eval_set_id, file, set_file, .. } = started;
        for text in [label, eval_set_id, file, set_file].into_iter().flatten() {
            match self.0.get(text) {
                Some(known) => text.clone_from(known),
                None => drop(self.0.insert(text.clone())),
            }
        }
    }
}

/// How bad an attempt ended. No clock tells which of two processes counts, so the worse does.
fn badness(attempt: &Attempt) -> u8 {
    match attempt.decided.as_ref().map(|decided| &decided.verdict) {
        Some(Verdict::Passed | Verdict::Informational) => 0,
        Some(Verdict::Skipped(_)) => 1,
        Some(Verdict::Failed) => 2,
        Some(Verdict::NotEvaluated(_)) => 3,
        Some(Verdict::Error { .. }) => 4,
        None => 5,
    }
}

/// What tests are sorted by.
fn order(test: &RecordedTest) -> impl Ord + '_ {
    let last = test.last().map(|attempt| &attempt.started);
    let location = last.map(|Started { file, line, column, .. }| (file, line, column));
    let began = last.map(|Started { label, at, test, .. }| (label, at, test));
    (test.package(), test.binary(), location, test.name(), began, test.last().map(|attempt| &attempt.file))
}

fn head(line: Result<&[u8], usize>) -> Result<Head, RecordError> {
    match check(line, Keep::All)? {
        (1, Ok(Record::Head(head))) => RecordError::check_schema(&head).map(|()| head),
        (1, Err(error)) => Err(error),
        _ => Err(misplaced("a journal begins with its head")),
    }
}

/// Puts the criteria, which are recorded once for a case, to the scores of its runs.
fn restore_criteria(attempt: &mut Attempt) {
    let Some(decided) = &attempt.decided else { return };
    for metric in attempt.evaluations.iter_mut().flat_map(|it| &mut it.scored).flat_map(|it| &mut it.metrics)
    {
        let of_case = decided.metrics.iter().find(|of_case| of_case.name == metric.name);
        metric.criterion = of_case.and_then(|of_case| of_case.criterion.clone());
    }
}

/// Drops the scores of an attempt whose runs are decided, but for what judges cost.
fn shorten(attempt: &mut Attempt) {
    for scored in attempt.evaluations.iter_mut().flat_map(|evaluation| &mut evaluation.scored) {
        scored.metrics.retain(|metric| !metric.judge.is_empty());
        scored.metrics.shrink_to_fit();
    }
    attempt.evaluations.shrink_to_fit();
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
    keep: Keep,
    head: Arc<Head>,
    file: Arc<Path>,
    /// The index of each test by its number.
    indices: HashMap<u32, usize>,
    /// Boxed, so that a vector of a hundred thousand of them is not copied while it grows, and each is free when it is read.
    #[expect(clippy::vec_box, reason = "they are large, and many")]
    all: Vec<Box<Attempt>>,
    /// The cases that a program was to run.
    planned: Vec<String>,
    /// What the test binary holds.
    listed: Option<Listed>,
}

impl Attempts {
    fn add(&mut self, record: Record) -> Result<(), RecordError> {
        match record {
            Record::Head(_) => return Err(misplaced("a second head")),
            Record::Unknown => {}
            Record::Planned(planned) => self.planned.extend(planned.cases),
            Record::Listed(listed) => match &mut self.listed {
                Some(known) => known.sets.extend(listed.sets),
                None => self.listed = Some(listed),
            },
            Record::Started(started) => {
                let test = started.test;
                if self.indices.contains_key(&test) {
                    return Err(RecordError::Misplaced(format!("test {test} begins a second time")));
                }
                self.indices.insert(test, self.all.len());
                let (head, file) = (Arc::clone(&self.head), Arc::clone(&self.file));
                self.all.push(Box::new(Attempt {
                    head,
                    file,
                    started,
                    evaluations: Vec::new(),
                    repeated: Vec::new(),
                    decided: None,
                }));
            }
            Record::Ran(ran) => {
                let attempt = self.of(ran.test)?;
                if ran.repeated {
                    attempt.repeated.push(ran);
                    return Ok(());
                }
                let evaluations = &mut attempt.evaluations;
                evaluations.reserve_exact(1);
                evaluations.push(Evaluation { ran, scored: None, passed: None });
            }
            Record::Scored(scored) => {
                let run = self.evaluation(scored.test, scored.evaluation)?;
                run.ok_or_else(|| misplaced("a score of a run that is not recorded"))?.scored = Some(scored);
            }
            Record::Broke(broke) => {
                let run = self.evaluation(broke.test, broke.evaluation)?;
                let run = run.ok_or_else(|| misplaced("an error of a run that is not recorded"))?;
                run.ran.transcript.error = Some(broke.error);
            }
            Record::Decided(decided) => self.decided(decided)?,
        }
        Ok(())
    }

    fn decided(&mut self, decided: Decided) -> Result<(), RecordError> {
        let (test, keep) = (decided.test, self.keep);
        let attempt = self.of(test)?;
        if attempt.decided.is_some() {
            return Err(RecordError::Misplaced(format!("test {test} ends a second time")));
        }
        attempt.decided = Some(decided);
        if keep == Keep::Outline {
            passed::decide(attempt);
            shorten(attempt);
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
        attempt
            .map(|attempt| &mut **attempt)
            .ok_or_else(|| RecordError::Misplaced(format!("test {test} did not begin")))
    }
}
