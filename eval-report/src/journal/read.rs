//! Reading runs: all files of a folder, merged into tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use eval_core::journal::{Decided, Head, ListedSet, Ran, Scored, Started, TurnBegan};

use super::record::RecordError;

/// A run as its journal records it, complete or not.
///
/// ```
/// use eval_report::journal::RecordedRun;
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
    /// The processes that wrote, in the order of their files.
    pub processes: Vec<Arc<Head>>,
    /// The tests, sorted by package, binary, file and position in the file.
    pub tests: Vec<RecordedTest>,
    /// The number of files that end in an incomplete line: the process was killed, or the disk was full, while it wrote.
    pub torn: usize,
    /// The names of the cases that programs were to run and that never began.
    pub never_began: Vec<String>,
    /// The tests of the test binaries, as their processes recorded them.
    pub listings: Vec<Listing>,
    /// The tests of other test binaries that were built beside these, each with the process that recorded them.
    pub beside: Vec<(Arc<Head>, Listing)>,
    /// The processes of tests that did not record what their binary holds. Under nextest, one process of a binary does it for all.
    pub unlisted: Vec<Arc<Head>>,
    /// The processes of hand-written tests and programs that did not record their end: they were killed or still run, and which
    /// cases they were to run next is not known. A process that a later attempt with the same arguments replaced is left out.
    pub unended: Vec<Arc<Head>>,
    /// The number of incomplete lines that may be about a test that is not among [`tests`](Self::tests).
    pub lost: usize,
    /// Other lines that could not be read.
    pub unreadable: Vec<UnreadableLine>,
    /// The missing parts of the run, a sentence for each: the lines of the file `missing-parts.txt`, which
    /// the copying program wrote beside the journals.
    pub missing_parts: Vec<String>,
}

/// The tests that a binary holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The package of the tests.
    pub package: Option<String>,
    /// The test binary.
    pub binary: Option<String>,
    /// Its sets.
    pub sets: Vec<ListedSet>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableLine {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The error in it.
    pub error: RecordError,
}

/// An error of reading a run.
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
    /// The folder is a part of the run already, or a copy of one: its tests would count twice.
    Repeated(PathBuf),
}

impl ReadRunError {
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> Self {
        |source| Self::Io { path: path.to_owned(), source }
    }
}

impl fmt::Display for ReadRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "cannot read `{}`: {source}", path.display()),
            Self::NoJournal(path) => write!(f, "`{}` holds no journal (no file `*.jsonl`)", path.display()),
            Self::Repeated(path) => {
                write!(f, "`{}` is named twice, and its tests would count twice", path.display())
            }
        }
    }
}

impl std::error::Error for ReadRunError {}

/// A test with all records about it, or a case that a program ran. A program can run a case several times: each time is one
/// `RecordedTest`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedTest {
    /// The starts of the test, by the number of the attempt. There are several if the test runner retried it,
    /// or if it ran again in the same test run. Of several starts with the same number, the worst is last: a
    /// later process does not hide a failure of an earlier one.
    pub attempts: Vec<Attempt>,
}

impl RecordedTest {
    /// The package of the test; `None` for a program that cargo did not start.
    pub fn package(&self) -> Option<&str> {
        self.attempts.first()?.head.package.as_deref()
    }

    /// The test binary; `None` if the system did not tell its name.
    pub fn binary(&self) -> Option<&str> {
        self.attempts.first()?.head.binary.as_deref()
    }

    /// The path of the test, as cargo shows it.
    pub fn name(&self) -> &str {
        self.attempts.first().map_or("", |attempt| &attempt.started.name)
    }

    /// The attempt that counts: the last one, and the worst start with its number.
    pub fn last(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// Whether the last attempt has no verdict: its process was killed, or still runs.
    pub fn is_unfinished(&self) -> bool {
        self.last().is_none_or(|attempt| attempt.decided.is_none())
    }
}

/// One start of a test.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Attempt {
    /// The process that ran it.
    pub head: Arc<Head>,
    /// The file that records it.
    pub file: Arc<Path>,
    /// The record of its start.
    pub started: Started,
    /// The turn that began last, until its run is recorded; `None` if no run was in progress when the records end, and in journals of
    /// earlier versions.
    pub turn: Option<TurnBegan>,
    /// The runs of the case, in the order in which they ended.
    pub evaluations: Vec<Evaluation>,
    /// The runs in which the agent was not reached and which `retry` repeated, in order. None of them is scored.
    pub repeated: Vec<Ran>,
    /// The record of its end; `None` if its process was killed, or still runs.
    pub decided: Option<Decided>,
}

/// A run of a case.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// The record of what happened.
    pub ran: Ran,
    /// Its scores; `None` if it was not scored: it ended in an error, or its process was killed.
    pub scored: Option<Scored>,
    /// Whether it passed every metric that decides; `None` if it has no verdict of its own.
    pub passed: Option<bool>,
}
