//! Slots: how many requests run at the same time in all test processes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;

use eval_support::lock::{FileLock, open_lock_file};

use crate::judge::environment::{self, SLOTS};
use crate::judge::{JudgeError, JudgeErrorKind};
use crate::target_dir::evalset_dir;

/// The default number of slots.
const DEFAULT_SLOTS: usize = 4;
/// How long to wait before the next look for a free slot: at first, and at most.
const FIRST_LOOK: Duration = Duration::from_millis(5);
const LONGEST_LOOK: Duration = Duration::from_millis(100);

/// Slots for requests that run at the same time, shared by all test processes.
///
/// ```
/// use eval_core::judge::Slots;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let slots = Slots::in_process(2);
/// let first = slots.take().await;
/// let second = slots.take().await;
/// drop(first);
/// let third = slots.take().await;
/// # drop((second, third));
/// # });
/// # Ok::<_, std::io::Error>(())
/// ```
///
/// Runners such as nextest give each test a process of its own. Without a limit for all processes, a suite asks its
/// judge everything at once and exceeds the limits of the provider.
///
/// A slot is a lock on a file in the target folder. The system frees the locks of a process that ends, however it ends.
#[derive(Clone, Debug)]
pub struct Slots {
    count: usize,
    /// The folder of the lock files. `None` counts the slots of this process alone.
    folder: Option<PathBuf>,
    /// Whether a folder was looked for and not found.
    is_lost: bool,
    /// How many slots without a lock are taken.
    counted: Arc<AtomicUsize>,
}

/// A slot that is taken until this value is dropped.
#[derive(Debug)]
#[must_use = "the slot is free again as soon as this is dropped"]
pub struct Slot {
    #[expect(dead_code, reason = "dropping the lock frees the slot")]
    lock: Option<FileLock>,
    counted: Option<Arc<AtomicUsize>>,
}

impl Slots {
    /// Slots of this process alone, at least one. Clones share them.
    pub fn in_process(count: usize) -> Self {
        Self { count: count.max(1), folder: None, is_lost: false, counted: Arc::default() }
    }

    /// Slots of all processes that name this folder, at least one.
    ///
    /// If the folder cannot be written or its files cannot be locked, the slots are those of this process alone, and a
    /// line on stderr says so once.
    pub fn in_folder(folder: impl Into<PathBuf>, count: usize) -> Self {
        Self { folder: Some(folder.into()), ..Self::in_process(count) }
    }

    /// As many slots as `EVALSET_JUDGE_SLOTS` says, else 4, in the folder `judge-slots` of `EVALSET_DIR`, else of
    /// `target/evalset`. The target folder is the one that this program was built into.
    ///
    /// It is an error if one of the variables cannot be read.
    pub fn from_env() -> Result<Self, JudgeError> {
        static COUNTED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();
        let count = environment::number(environment::get, SLOTS, 1)?.unwrap_or(DEFAULT_SLOTS);
        let folder = evalset_dir().map_err(|message| JudgeError::new(JudgeErrorKind::Failed, message))?;
        Ok(Self {
            count,
            is_lost: folder.is_none(),
            folder: folder.map(|folder| folder.join("judge-slots")),
            counted: Arc::clone(COUNTED.get_or_init(Arc::default)),
        })
    }

    /// Waits for a slot and takes it.
    pub async fn take(&self) -> Slot {
        let mut look = FIRST_LOOK;
        loop {
            if let Some(slot) = self.try_take() {
                return slot;
            }
            tokio::time::sleep(look).await;
            look = (look * 2).min(LONGEST_LOOK);
        }
    }

    fn try_take(&self) -> Option<Slot> {
        if let Some(folder) = &self.folder {
            match lock_one(folder, self.count) {
                Ok(lock) => return lock.map(|lock| Slot { lock: Some(lock), counted: None }),
                Err(error) => say_once(&format!("no lock in `{}`: {error}", folder.display())),
            }
        } else if self.is_lost {
            say_once("this program stands in no target folder");
        }
        let free = |taken| (taken < self.count).then_some(taken + 1);
        self.counted.fetch_update(Ordering::AcqRel, Ordering::Acquire, free).ok()?;
        Some(Slot { lock: None, counted: Some(Arc::clone(&self.counted)) })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(counted) = &self.counted {
            counted.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Locks one of the files. `None` if all of them are locked.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("evalset-slots-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn there_are_as_many_slots_as_said_and_dropping_frees_them() {
        let shared = folder("count");
        for slots in [Slots::in_process(2), Slots::in_folder(&shared, 2)] {
            let other = slots.clone();
            let first = slots.try_take().unwrap();
            let second = other.try_take().unwrap();
            assert!(slots.try_take().is_none() && other.try_take().is_none());
            drop(first);
            let third = other.try_take().unwrap();
            assert!(slots.try_take().is_none());
            drop((second, third));
            assert!(slots.try_take().is_some());
        }
        std::fs::remove_dir_all(shared).unwrap();
    }

    #[test]
    fn no_slots_at_all_are_one() {
        assert!(Slots::in_process(0).try_take().is_some());
    }

    #[test]
    fn where_no_folder_can_be_made_slots_are_counted_in_the_process() {
        let file = folder("file");
        std::fs::write(&file, "").unwrap();
        let slots = Slots::in_folder(file.join("inside"), 1);
        let slot = slots.try_take().unwrap();
        assert!(slots.clone().try_take().is_none());
        drop(slot);
        assert!(slots.try_take().is_some());
        std::fs::remove_file(file).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_slot_is_waited_for_without_blocking_the_thread() {
        let slots = Slots::in_process(1);
        let first = slots.take().await;
        let waiting = tokio::spawn({
            let slots = slots.clone();
            async move { slots.take().await }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!waiting.is_finished());
        drop(first);
        drop(waiting.await.unwrap());
        assert!(slots.try_take().is_some());
    }
}
