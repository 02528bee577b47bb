//! What all requests for pages share.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, broadcast, watch};

use super::answer::Failure;
use super::job::{Job, Start};
use super::runs::Lines;
use super::view::Views;

/// What all requests for pages share.
#[derive(Debug)]
pub(crate) struct Site {
    /// The folder of runs.
    pub(super) records: PathBuf,
    pub(super) lines: Mutex<Lines>,
    pub(super) views: Mutex<Views>,
    pub(super) dropped: Mutex<Vec<(u64, tempfile::TempDir)>>,
    pub(super) job: Job,
    /// Whether somebody looks for new records.
    pub(super) watches: Mutex<bool>,
    events: broadcast::Sender<Arc<str>>,
    ends: watch::Sender<bool>,
    readers: Arc<Semaphore>,
}

/// How many events may wait for a reader who is slow. Who misses some asks for everything again.
const WAITING: usize = 256;

/// How many pages are computed at a time: each may hold a whole run.
const READERS: usize = 2;

impl Site {
    pub(super) fn new(records: PathBuf, start: Option<Start>) -> Arc<Self> {
        Arc::new(Self {
            records,
            lines: Mutex::default(),
            views: Mutex::default(),
            dropped: Mutex::default(),
            job: Job::new(start),
            watches: Mutex::new(false),
            events: broadcast::Sender::new(WAITING),
            ends: watch::Sender::new(false),
            readers: Arc::new(Semaphore::new(READERS)),
        })
    }

    /// Ends the streams of events, and the run that was started here.
    pub(crate) fn end(&self) {
        self.ends.send_replace(true);
        self.job.end();
    }

    pub(super) fn ending(&self) -> watch::Receiver<bool> {
        self.ends.subscribe()
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<Arc<str>> {
        self.events.subscribe()
    }

    pub(super) fn has_listeners(&self) -> bool {
        self.events.receiver_count() > 0
    }

    /// Tells everybody who looks at a page.
    pub(super) fn tell(&self, name: &str, data: &serde_json::Value) {
        // Without listeners there is nobody to tell.
        drop(self.events.send(format!("event: {name}\ndata: {data}\n\n").into()));
    }

    /// Works on a thread that may wait for a disk.
    pub(super) async fn work<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let permit = Arc::clone(&self.readers).acquire_owned().await;
        let task = tokio::task::spawn_blocking(move || {
            let result = work(&self);
            drop(permit);
            result
        });
        task.await.unwrap_or_else(|_| Err(Failure::internal("the server failed at this request")))
    }
}

/// What a lock guards. A panic while it was held left it as it was.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
