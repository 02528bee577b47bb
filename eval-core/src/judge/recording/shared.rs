//! The recordings that this process has open. All users of one file share its content in memory.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eval_format::recording::{RecordedQuestion, Recording};
use eval_support::lock::FolderLock;
use eval_support::message::show;
use tokio::sync::OnceCell;

use super::file::{self, FileError, Loaded};
use crate::judge::{JudgeError, JudgeReply};

/// The minimum time between two rewrites of a recording. Added lines stay beside it meanwhile.
const MIN_REWRITE_INTERVAL: Duration = Duration::from_secs(1);

/// A recording that is used in this process.
///
/// Its functions block: they read, write and wait for other processes. Async code calls them through
/// `store::blocking` only.
#[derive(Debug)]
pub(super) struct SharedRecording {
    path: PathBuf,
    /// The questions that are being asked.
    pub(super) flights: Flights,
    /// The turn of a thread to write. It is taken before the lock of the folder: a mutex wakes the threads
    /// that wait for it, and the lock is polled.
    turn: Mutex<()>,
    /// Held while the files are read and written, and never while another process is waited for.
    state: Mutex<State>,
    /// The file to touch when the recording is first created.
    touched: Mutex<Option<PathBuf>>,
    users: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    loaded: Loaded,
    /// The indices of the questions of each case, with the number of changes for which they were computed.
    by_case: Option<(u64, HashMap<String, Vec<usize>>)>,
    /// The time when this process last rewrote the recording.
    written: Option<Instant>,
    /// Whether this process records: one that replays writes nothing.
    records: bool,
    /// Whether the recording was found to be writable.
    is_writable: bool,
}

/// The recordings that were used so far. They stay in memory: most tests of a process share one recording,
/// and reading what was added to a large one takes less time than reading it again.
static OPEN: Mutex<BTreeMap<PathBuf, Arc<SharedRecording>>> = Mutex::new(BTreeMap::new());

/// The target of a link, so that all names of a recording share one lock and one file of lines.
fn followed(path: &Path) -> PathBuf {
    if path.is_symlink() {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    } else {
        path.to_owned()
    }
}

/// A user of a recording. When the last one is dropped, all answers are merged into the file.
#[derive(Debug)]
pub(super) struct User(Arc<SharedRecording>);

impl User {
    pub(super) fn of(path: &Path) -> Self {
        let path = followed(path);
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = open.entry(path.clone()).or_insert_with(|| Arc::new(SharedRecording::new(path))).clone();
        drop(open);
        shared.users.fetch_add(1, Ordering::AcqRel);
        Self(shared)
    }

    pub(super) fn recording(&self) -> &Arc<SharedRecording> {
        &self.0
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl SharedRecording {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            flights: Flights::default(),
            turn: Mutex::default(),
            state: Mutex::default(),
            touched: Mutex::default(),
            users: AtomicUsize::new(0),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the file to touch when the recording is first created.
    pub(super) fn touch_at_first(&self, path: PathBuf) {
        *self.touched.lock().unwrap_or_else(PoisonError::into_inner) = Some(path);
    }

    /// Reads what is recorded.
    pub(super) fn load(&self) -> Result<(), FileError> {
        self.state().loaded.read(&self.path)
    }

    /// Marks this process as one that records.
    pub(super) fn begin_recording(&self) {
        self.state().records = true;
    }

    /// Whether there is a recording.
    pub(super) fn exists(&self) -> bool {
        self.state().loaded.exists()
    }

    /// Calls `look` with the recording as last read.
    pub(super) fn with<T>(&self, look: impl FnOnce(&Recording) -> T) -> T {
        look(self.state().loaded.recording())
    }

    /// Calls `look` with the questions of a case. The index over all cases is rebuilt only after a change.
    pub(super) fn with_case<T>(&self, case: &str, look: impl FnOnce(Vec<&RecordedQuestion>) -> T) -> T {
        let mut state = self.state();
        let State { loaded, by_case, .. } = &mut *state;
        let questions = loaded.recording().questions();
        if by_case.as_ref().is_none_or(|(changes, _)| *changes != loaded.changes()) {
            let mut indices: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, question) in questions.iter().enumerate() {
                for case in &question.cases {
                    indices.entry(case.clone()).or_default().push(at);
                }
            }
            *by_case = Some((loaded.changes(), indices));
        }
        let indices = by_case.as_ref().and_then(|(_, indices)| indices.get(case));
        look(indices.into_iter().flatten().filter_map(|at| questions.get(*at)).collect())
    }

    /// Reads the answers that other processes have recorded.
    pub(super) fn catch_up(&self) -> Result<(), FileError> {
        let _turn = self.turn();
        let _lock = self.lock()?;
        self.state().loaded.catch_up(&self.path)
    }

    /// Fails if nothing can be recorded here, before an answer is paid for.
    pub(super) fn check_writable(&self) -> Result<(), FileError> {
        let mut state = self.state();
        if !state.is_writable {
            file::check_writable(&self.path)?;
            state.is_writable = true;
        }
        Ok(())
    }

    /// Adds a question to the current content of the files.
    pub(super) fn add(&self, question: RecordedQuestion) -> Result<(), FileError> {
        let _turn = self.turn();
        let _lock = self.lock()?;
        let mut state = self.state();
        state.loaded.catch_up(&self.path)?;
        state.loaded.add(&self.path, question)?;
        let is_due = state.written.is_none_or(|written| written.elapsed() >= MIN_REWRITE_INTERVAL);
        // All users may be gone, if they gave up waiting.
        if is_due || self.users.load(Ordering::Acquire) == 0 { self.write(&mut state) } else { Ok(()) }
    }

    fn write(&self, state: &mut State) -> Result<(), FileError> {
        let is_new = state.loaded.write(&self.path)?;
        state.written = Some(Instant::now());
        let touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
        if is_new && let Some(touched) = &*touched {
            file::touch(touched);
        }
        Ok(())
    }

    /// Rewrites the recording if this was its last user in this process. It never waits: another writer, or
    /// the next process that records, merges the lines.
    fn leave(&self) {
        if self.users.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let Ok(_turn) = self.turn.try_lock() else { return };
        let mut state = self.state();
        if !state.records || !state.loaded.has_lines() {
            return;
        }
        let written = self.try_lock().and_then(|lock| {
            let Some(_lock) = lock else { return Ok(()) };
            state.loaded.catch_up(&self.path)?;
            if state.loaded.has_lines() { self.write(&mut state) } else { Ok(()) }
        });
        if let Err(error) = written {
            let lines = file::lines_path(&self.path);
            show(&format!(
                "the recording is not up to date: {error}; its answers stand in `{}`, which the next run that records \
                 takes over",
                lines.display()
            ));
        }
    }

    /// Takes the lock of the folder, and waits while another process holds it.
    fn lock(&self) -> Result<FolderLock, FileError> {
        FolderLock::beside(&self.path).map_err(|error| FileError::lock(&self.path, &error))
    }

    /// Takes the lock without waiting. `None` if another process holds it.
    fn try_lock(&self) -> Result<Option<FolderLock>, FileError> {
        FolderLock::try_beside(&self.path).map_err(|error| FileError::lock(&self.path, &error))
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of a question, and the number of the sample.
pub(super) type Asked = (String, u32);

type Outcome = Result<JudgeReply, JudgeError>;

/// The questions that are being asked.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<Asked, Arc<OnceCell<Outcome>>>>);

/// The outcome of a question.
pub(super) enum Landed {
    /// This task asked the question.
    Asked(Outcome),
    /// Another task was asking the question, and got this outcome.
    Shared(Outcome),
}

impl Flights {
    /// Asks a question, or waits for the task that is asking it. If that task gives up, the next waiting task
    /// asks.
    ///
    /// All waiting tasks share the outcome. A question that comes after an error is asked again.
    pub(super) async fn ask(&self, asked: Asked, ask: impl Future<Output = Outcome>) -> Landed {
        let flight = self.join(asked);
        let mut own = None;
        let outcome = flight.cell.get_or_init(async || {
            let outcome = ask.await;
            own = Some(());
            outcome
        });
        let outcome = outcome.await.clone();
        if own.is_some() { Landed::Asked(outcome) } else { Landed::Shared(outcome) }
    }

    fn join(&self, asked: Asked) -> Flight<'_> {
        let cell = self.open().entry(asked.clone()).or_default().clone();
        Flight { flights: self, asked, cell }
    }

    /// Held for moments: nothing is read, written or awaited under it.
    fn open(&self) -> MutexGuard<'_, HashMap<Asked, Arc<OnceCell<Outcome>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task that asks a question or waits for its outcome.
struct Flight<'a> {
    flights: &'a Flights,
    asked: Asked,
    cell: Arc<OnceCell<Outcome>>,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut open = self.flights.open();
        let is_mine = open.get(&self.asked).is_some_and(|cell| Arc::ptr_eq(cell, &self.cell));
        // One of the two references is the map's, so no other task waits.
        if is_mine && (self.cell.initialized() || Arc::strong_count(&self.cell) == 2) {
            open.remove(&self.asked);
        }
    }
}

#[cfg(test)]
mod flights_tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::judge::JudgeErrorKind;

    fn asked() -> Asked {
        ("?".to_owned(), 0)
    }

    fn text(landed: &Landed) -> (bool, Result<&str, String>) {
        let (own, outcome) = match landed {
            Landed::Asked(outcome) => (true, outcome),
            Landed::Shared(outcome) => (false, outcome),
        };
        (own, outcome.as_ref().map(|reply| reply.text.as_str()).map_err(ToString::to_string))
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_ask_at_the_same_time_share_one_answer_or_one_error() {
        for outcome in [Ok(JudgeReply::new("yes")), Err(JudgeError::new(JudgeErrorKind::Failed, "503"))] {
            let (flights, count) = (Flights::default(), AtomicUsize::new(0));
            let ask = || {
                flights.ask(asked(), async {
                    count.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    outcome.clone()
                })
            };
            let (one, two, three) = tokio::join!(ask(), ask(), ask());
            assert_eq!([&one, &two, &three].map(|landed| text(landed).0), [true, false, false]);
            assert_eq!(text(&two).1, text(&one).1);
            assert_eq!((count.load(Ordering::SeqCst), flights.open().len()), (1, 0));
            ask().await;
            assert_eq!(count.load(Ordering::SeqCst), 2, "who comes later asks again");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_leaves_the_question_to_the_next() {
        let flights = Flights::default();
        let hangs =
            tokio::time::timeout(Duration::from_secs(1), flights.ask(asked(), std::future::pending()));
        let waits = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            flights.ask(asked(), async { Ok(JudgeReply::new("yes")) }).await
        };
        let (hangs, waits) = tokio::join!(hangs, waits);
        assert!(hangs.is_err());
        assert_eq!(text(&waits), (true, Ok("yes")));
        assert!(flights.open().is_empty());
    }
}
