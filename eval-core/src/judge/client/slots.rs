//! Slots: a limit on concurrent requests over all test processes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;

use eval_support::lock::{FileLock, open_lock_file};
use tokio::sync::Semaphore;

use crate::judge::ask::ask_within;
use crate::judge::environment::{self, SLOTS};
use crate::judge::{Judge, JudgeError, JudgeReply, JudgeRequest, budget};
use crate::target_dir::evalset_dir;

const DEFAULT_SLOTS: usize = 4;
/// The interval of polling for a free slot: at first, and at most.
const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(5);
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Slots for requests that run at the same time, shared by all test processes. Runners such as nextest give each test
/// a process of its own. Without a limit for all processes, a suite asks its judge everything at once and exceeds the
/// limits of the provider.
///
/// A slot is a lock on a file in the target folder. The system frees the locks of a process that ends, however it ends.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    count: usize,
    /// The folder of the lock files. Without a folder, or where no file can be locked, only this process is
    /// counted.
    folder: Option<PathBuf>,
    /// Whether a folder was looked for and not found.
    is_lost: bool,
    counted: Arc<Semaphore>,
}

/// A slot, which is taken until this is dropped: a lock or a permit.
#[must_use]
struct Slot(#[expect(dead_code, reason = "it is held until it is dropped")] Box<dyn Send>);

impl Slots {
    /// Slots of all processes that name this folder, or without a folder of this process alone. There is at
    /// least one slot. Clones share them.
    pub(super) fn new(folder: Option<PathBuf>, count: usize) -> Self {
        let count = count.max(1);
        Self { count, folder, is_lost: false, counted: Arc::new(Semaphore::new(count)) }
    }

    /// `EVALSET_JUDGE_SLOTS` slots, else 4, in the folder `judge-slots` of `EVALSET_DIR`, else of
    /// `target/evalset`. The target folder is the one that this program was built into.
    pub(super) fn from_env() -> Result<Self, JudgeError> {
        static COUNTED: OnceLock<Arc<Semaphore>> = OnceLock::new();
        let count = environment::number(environment::get, SLOTS, 1)?.unwrap_or(DEFAULT_SLOTS);
        let folder = evalset_dir().map_err(JudgeError::failed)?;
        let is_lost = folder.is_none();
        let slots = Self::new(folder.map(|folder| folder.join("judge-slots")), count);
        Ok(Self { is_lost, counted: Arc::clone(COUNTED.get_or_init(|| slots.counted)), ..slots })
    }

    async fn take(&self) -> Slot {
        let mut look = FIRST_POLL_INTERVAL;
        loop {
            if let Some(slot) = self.try_take() {
                return slot;
            }
            tokio::time::sleep(look).await;
            look = (look * 2).min(MAX_POLL_INTERVAL);
        }
    }

    fn try_take(&self) -> Option<Slot> {
        if let Some(folder) = &self.folder {
            match lock_one(folder, self.count) {
                Ok(lock) => return lock.map(|lock| Slot(Box::new(lock))),
                Err(error) => say_once(&format!("no lock in `{}`: {error}", folder.display())),
            }
        } else if self.is_lost {
            say_once("this program is in no target folder");
        }
        Arc::clone(&self.counted).try_acquire_owned().ok().map(|permit| Slot(Box::new(permit)))
    }
}

fn lock_one(folder: &Path, count: usize) -> io::Result<Option<FileLock>> {
    // Processes begin at different files, so that they seldom meet.
    let first = std::process::id() as usize % count;
    for n in (0..count).map(|n| (first + n) % count) {
        let file = open_lock_file(&folder.join(format!("{n}.lock")))?;
        if let Some(lock) = FileLock::try_exclusive(file)? {
            return Ok(Some(lock));
        }
    }
    Ok(None)
}

fn say_once(why: &str) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        eval_support::message::show(&format!(
            "judge requests are limited in this process alone, as {why}; `EVALSET_DIR` names a folder that all \
             processes share"
        ));
    });
}

/// A judge whose concurrent questions are limited by [`Slots`]. The module `judge` says where it belongs.
#[derive(Clone, Debug)]
pub(super) struct Limited<J> {
    judge: J,
    slots: Slots,
}

impl<J: Judge> Limited<J> {
    pub(super) fn new(judge: J, slots: Slots) -> Self {
        Self { judge, slots }
    }
}

impl<J: Judge> Judge for Limited<J> {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let _slot = budget::queued(self.slots.take()).await;
        ask_within(&self.judge, request).await
    }

    fn is_offline(&self) -> bool {
        self.judge.is_offline()
    }

    /// `None`: the judge inside has its own limit, which begins when there is a slot.
    fn time_limit(&self) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests;
