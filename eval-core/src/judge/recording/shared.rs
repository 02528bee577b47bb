//! The recordings that this process has open. All users of one file share its content in memory.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use eval_format::recording::{RecordedQuestion, Recording};
use eval_support::lock::FolderLock;
use eval_support::message::show;
use eval_support::mutex::Mutex;
use tokio::sync::OnceCell;

use super::file::{self, Loaded};
use crate::judge::{JudgeError, JudgeReply};

/// The minimum time between two rewrites of a recording. Added lines stay beside it meanwhile.
const MIN_REWRITE_INTERVAL: Duration = Duration::from_secs(1);

/// A recording that is used in this process. Its functions block: they read, write and wait for other processes.
/// Async code calls them through `blocking` only.
#[derive(Debug)]
pub(super) struct SharedRecording {
    pub(super) path: PathBuf,
    pub(super) flights: Flights,
    /// The turn of a thread to write. It is taken before the lock of the folder: a mutex wakes the threads
    /// that wait for it, and the lock is polled.
    turn: Mutex<()>,
    /// Held while the files are read and written, and never while another process is waited for.
    state: Mutex<State>,
    users: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    loaded: Loaded,
    written: Option<Instant>,
    /// Whether this process records: one that replays writes nothing.
    records: bool,
    /// Whether the file was found to be writable.
    is_writable: bool,
    /// The file to touch when the recording is first created.
    touched: Option<PathBuf>,
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
pub(super) struct User(pub(super) Arc<SharedRecording>);

impl User {
    pub(super) fn of(path: &Path) -> Self {
        let path = followed(path);
        let mut open = OPEN.lock();
        let shared = open.entry(path.clone()).or_insert_with(|| Arc::new(SharedRecording::new(path))).clone();
        drop(open);
        shared.users.fetch_add(1, Ordering::AcqRel);
        Self(shared)
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
            users: AtomicUsize::new(0),
        }
    }

    pub(super) fn touch_at_first(&self, path: PathBuf) {
        self.state.lock().touched = Some(path);
    }

    pub(super) fn load(&self) -> Result<(), String> {
        self.state.lock().loaded.read(&self.path)
    }

    pub(super) fn begin_recording(&self) {
        self.state.lock().records = true;
    }

    pub(super) fn exists(&self) -> bool {
        self.state.lock().loaded.exists()
    }

    pub(super) fn with<T>(&self, look: impl FnOnce(&Recording) -> T) -> T {
        look(&self.state.lock().loaded.recording)
    }

    pub(super) fn with_case<T>(&self, case: &str, look: impl FnOnce(Vec<&RecordedQuestion>) -> T) -> T {
        look(self.state.lock().loaded.of_case(case))
    }

    pub(super) fn catch_up(&self) -> Result<(), String> {
        let _turn = self.turn.lock();
        let _lock = self.lock()?;
        self.state.lock().loaded.catch_up(&self.path)
    }

    /// Fails if nothing can be recorded here, before an answer is paid for. The check makes a file and removes it, so
    /// it is not repeated once it succeeded.
    pub(super) fn check_writable(&self) -> Result<(), String> {
        let mut state = self.state.lock();
        if !state.is_writable {
            file::check_writable(&self.path)?;
            state.is_writable = true;
        }
        Ok(())
    }

    pub(super) fn add(&self, question: RecordedQuestion) -> Result<(), String> {
        let _turn = self.turn.lock();
        let _lock = self.lock()?;
        let mut state = self.state.lock();
        state.loaded.catch_up(&self.path)?;
        state.loaded.add(&self.path, question)?;
        let is_due = state.written.is_none_or(|written| written.elapsed() >= MIN_REWRITE_INTERVAL);
        // All users may be gone, if they gave up waiting.
        if is_due || self.users.load(Ordering::Acquire) == 0 { self.write(&mut state) } else { Ok(()) }
    }

    fn write(&self, state: &mut State) -> Result<(), String> {
        let is_new = state.loaded.write(&self.path)?;
        state.written = Some(Instant::now());
        if is_new && let Some(touched) = &state.touched {
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
        let Some(_turn) = self.turn.try_lock() else { return };
        let mut state = self.state.lock();
        if !state.records || state.loaded.lines == 0 {
            return;
        }
        let written = self.try_lock().and_then(|lock| {
            let Some(_lock) = lock else { return Ok(()) };
            state.loaded.catch_up(&self.path)?;
            if state.loaded.lines > 0 { self.write(&mut state) } else { Ok(()) }
        });
        if let Err(error) = written {
            let lines = file::lines_path(&self.path);
            show(&format!(
                "the recording is not up to date: {error}; its answers are in `{}`; the next run that records \
                 merges them",
                lines.display()
            ));
        }
    }

    fn lock(&self) -> Result<FolderLock, String> {
        FolderLock::beside(&self.path).map_err(|error| file::cannot_lock(&self.path, &error))
    }

    fn try_lock(&self) -> Result<Option<FolderLock>, String> {
        FolderLock::try_beside(&self.path).map_err(|error| file::cannot_lock(&self.path, &error))
    }
}

pub(super) type Asked = (String, u32);

type Outcome = Result<JudgeReply, JudgeError>;

#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<Asked, Arc<OnceCell<Outcome>>>>);

pub(super) enum Landed {
    /// This task asked the question.
    Asked(Outcome),
    /// Another task was asking the question, and got this outcome.
    Shared(Outcome),
}

impl Flights {
    /// Asks a question, or waits for the task that is asking it. If that task gives up, the next waiting task
    /// asks. All waiting tasks share the outcome. A question that comes after an error is asked again.
    pub(super) async fn ask(&self, asked: Asked, ask: impl Future<Output = Outcome>) -> Landed {
        let flight = Flight { flights: self, asked };
        // The cell is dropped before the flight, which counts its holders.
        let cell = self.0.lock().entry(flight.asked.clone()).or_default().clone();
        let mut own = None;
        let outcome = cell.get_or_init(async || {
            let outcome = ask.await;
            own = Some(());
            outcome
        });
        let outcome = outcome.await.clone();
        if own.is_some() { Landed::Asked(outcome) } else { Landed::Shared(outcome) }
    }
}

/// A task in [`Flights::ask`]. When it ends or is dropped, its question is removed if it has its outcome, or if no
/// other task waits for it.
struct Flight<'f> {
    flights: &'f Flights,
    asked: Asked,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut open = self.flights.0.lock();
        if open.get(&self.asked).is_some_and(|cell| cell.initialized() || Arc::strong_count(cell) == 1) {
            open.remove(&self.asked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_checked_until_it_was_found_to_be_writable() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("folder");
        let recording = SharedRecording::new(folder.join("x.judge.json"));
        assert!(recording.check_writable().is_err());
        fs::create_dir(&folder).unwrap();
        recording.check_writable().unwrap();
        fs::remove_dir(&folder).unwrap();
        recording.check_writable().unwrap();
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
            assert_eq!((count.load(Ordering::SeqCst), flights.0.lock().len()), (1, 0));
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
        assert!(flights.0.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_is_forgotten_if_all_who_ask_give_up_and_not_before() {
        let flights = Flights::default();
        let ask = |millis| {
            let asking = flights.ask(asked(), std::future::pending());
            tokio::time::timeout(Duration::from_millis(millis), asking)
        };
        assert!(ask(10).await.is_err());
        assert!(flights.0.lock().is_empty());
        let count = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            flights.0.lock().len()
        };
        let (first, second, open) = tokio::join!(ask(10), ask(30), count);
        assert!(first.is_err() && second.is_err());
        assert_eq!((open, flights.0.lock().len()), (1, 0), "the second one waits, and then gives up");
    }
}
