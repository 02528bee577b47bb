//! The folder of a run: its journals, and whether somebody writes there.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use eval_core::journal::RunDir;

use super::hub::lock;

/// The bytes of the journals of a run, and whether somebody writes there. A journal only grows.
pub(super) type Signature = (u64, bool);

pub(super) fn signature(run: &RunDir) -> Signature {
    (journals(&run.path).iter().map(|(_, size)| size).sum(), is_written(&run.path))
}

/// The journals of a run, and their sizes.
pub(super) fn journals(folder: &Path) -> Vec<(PathBuf, u64)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let journals = entries.filter(|entry| entry.path().extension().is_some_and(|it| it == "jsonl"));
    let sizes = journals.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?.len())));
    let mut sizes: Vec<_> = sizes.collect();
    sizes.sort();
    sizes
}

/// Whether a process writes in a run: it holds its marker locked. A process that was killed does not.
pub(super) fn is_written(folder: &Path) -> bool {
    /// Two threads that look at once would take each other for a writer.
    static LOOKS: Mutex<()> = Mutex::new(());

    let looks = lock(&LOOKS);
    let marker = File::open(folder.join("run.json"));
    let is_locked = marker.is_ok_and(|marker| matches!(marker.try_lock(), Err(TryLockError::WouldBlock)));
    drop(looks);
    is_locked
}
