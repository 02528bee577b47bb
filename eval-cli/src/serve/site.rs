//! State that all requests for pages share.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use eval_report::price::Prices;
use eval_support::mutex::Mutex;
use tokio::sync::Semaphore;

use super::answer::Failure;
use super::hub::Hub;
use super::job::{Job, Start};
use super::lines::Lines;
use super::view::Views;
use crate::edited::select;
use crate::output::CommandError;

/// The state that all requests for pages share.
#[derive(Debug)]
pub(crate) struct Site {
    pub(super) records: PathBuf,
    /// Prices of tokens; empty if the prices that each run was given count.
    pub(super) prices: Prices,
    pub(super) hub: Hub,
    pub(super) lines: Mutex<Lines>,
    pub(super) views: Mutex<Views>,
    /// Journals that were dropped, by number.
    pub(super) dropped: Mutex<Vec<(u64, Arc<tempfile::TempDir>)>>,
    pub(super) job: Arc<Job>,
    pub(super) watches: Mutex<bool>,
    readers: Arc<Semaphore>,
}

/// The most pages that are computed at a time: each may hold a whole run.
const MAX_READERS: usize = 2;

impl Site {
    pub(super) fn new(records: PathBuf, prices: Prices, start: Option<Start>) -> Arc<Self> {
        let hub = Hub::new();
        Arc::new(Self {
            job: Arc::new(Job::new(start, records.clone(), hub.clone())),
            records,
            prices,
            hub,
            lines: Mutex::default(),
            views: Mutex::default(),
            dropped: Mutex::default(),
            watches: Mutex::new(false),
            readers: Arc::new(Semaphore::new(MAX_READERS)),
        })
    }

    /// Ends the streams of events, and the run that was started here. Dropped files are removed.
    pub(crate) fn end(&self) {
        self.hub.ends.send_replace(true);
        self.job.end();
        self.dropped.lock().clear();
    }

    /// Runs blocking work on a thread of its own, at most [`MAX_READERS`] at a time.
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

/// The sets below the folder in which the service was started, as `cargo evalset list .` finds them.
pub(super) fn all_sets() -> Result<Vec<PathBuf>, CommandError> {
    Ok(select(&[OsString::from(".")])?.into_iter().map(|set| set.path).collect())
}
