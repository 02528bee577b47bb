//! The recordings that this process has open. All who use one file share what is known of it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eval_format::recording::{RecordedQuestion, Recording};
use eval_support::lock::FolderLock;
use eval_support::message::show;

use super::file::{self, FileError, Loaded};
use super::flights::Flights;

/// How long the lines that were added to a recording stay beside it before it is written anew.
const AT_MOST_EVERY: Duration = Duration::from_secs(1);

/// A recording that is used in this process.
///
/// Its functions read, write and wait for other processes. On threads that run async tasks they are called through
/// [`blocking`](super::blocking::blocking) alone.
#[derive(Debug)]
pub(super) struct SharedRecording {
    path: PathBuf,
    /// The questions that are being asked.
    pub(super) flights: Flights,
    /// Whose turn it is to write. It is taken before the lock, since threads that wait for a mutex are woken.
    turn: Mutex<()>,
    /// Held while the files are read and written, and never while another process is waited for.
    state: Mutex<State>,
    /// What is touched when there is a recording for the first time.
    touched: Mutex<Option<PathBuf>>,
    users: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    loaded: Loaded,
    /// The indices of the questions of each case, with the changes that they were made at.
    by_case: Option<(u64, HashMap<String, Vec<usize>>)>,
    /// When this process wrote the recording anew.
    written: Option<Instant>,
    /// Whether this process records: one that replays writes nothing.
    records: bool,
    /// Whether a file was made beside the recording once.
    is_writable: bool,
}

/// The recordings that were used so far. What is known of them stays: most tests of a process share one recording, and to
/// follow what was added to a large one takes less time than to read it again.
static OPEN: Mutex<BTreeMap<PathBuf, Arc<SharedRecording>>> = Mutex::new(BTreeMap::new());

/// The file that a link leads to: all names of a recording have one lock, and one file of lines.
fn followed(path: &Path) -> PathBuf {
    if path.is_symlink() {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    } else {
        path.to_owned()
    }
}

/// The use of a recording. The last one that ends puts all that was recorded into the file.
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

    /// Touches this file when there is a recording for the first time.
    pub(super) fn touch_at_first(&self, path: PathBuf) {
        *self.touched.lock().unwrap_or_else(PoisonError::into_inner) = Some(path);
    }

    /// Reads what is recorded.
    pub(super) fn load(&self) -> Result<(), FileError> {
        self.state().loaded.read(&self.path)
    }

    /// Says that this process records.
    pub(super) fn begin_recording(&self) {
        self.state().records = true;
    }

    /// Whether there is a recording.
    pub(super) fn exists(&self) -> bool {
        self.state().loaded.exists()
    }

    /// Does something with what is recorded, as far as it is known.
    pub(super) fn with<T>(&self, look: impl FnOnce(&Recording) -> T) -> T {
        look(self.state().loaded.recording())
    }

    /// Does something with the questions of a case. The index over all cases is made once.
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

    /// Takes over what other processes have recorded.
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

    /// Adds a question to what the files hold now.
    pub(super) fn add(&self, question: RecordedQuestion) -> Result<(), FileError> {
        let _turn = self.turn();
        let _lock = self.lock()?;
        let mut state = self.state();
        state.loaded.catch_up(&self.path)?;
        state.loaded.add(&self.path, question)?;
        let is_due = state.written.is_none_or(|written| written.elapsed() >= AT_MOST_EVERY);
        // Those who asked may have given up and gone.
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

    /// Writes the recording anew if nobody in this process uses it any more. It waits for nobody: who writes now, or records
    /// next, takes the lines over.
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

    /// Waits until nobody else writes in the folder, and keeps others out.
    fn lock(&self) -> Result<FolderLock, FileError> {
        FolderLock::beside(&self.path).map_err(|error| FileError::lock(&self.path, &error))
    }

    /// The same without waiting. `None` if somebody else writes there now.
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
