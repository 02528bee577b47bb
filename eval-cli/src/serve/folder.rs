//! The folder of a run: its journals, and whether a process writes there.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use eval_core::journal::file_names::{MARKER, MISSING_PARTS, is_journal};
use eval_report::journal::RunDir;
use eval_support::hash::content_hash;
use eval_support::mutex::Mutex;

/// The signature of a run: it differs if the run changed since it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Signature {
    files: Files,
    pub(super) is_written: bool,
}

impl Signature {
    /// A hash of what was written so far.
    pub(super) fn record(&self) -> String {
        format!("{:016x}", content_hash(format!("{:?}", self.files).as_bytes()))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    /// The bytes of all journals. A journal only grows.
    bytes: u64,
    /// The missing parts that a copy lists. The list can change while the journals stay the same.
    missing_parts: Option<Vec<u8>>,
    /// The length of `run.json`, and when it was written.
    marker: Option<(u64, Option<SystemTime>)>,
}

impl Files {
    pub(super) fn new(folder: &Path, journals: &[(PathBuf, u64)]) -> Self {
        let marker = fs::metadata(folder.join(MARKER)).ok();
        Self {
            bytes: journals.iter().map(|(_, size)| size).sum(),
            missing_parts: fs::read(folder.join(MISSING_PARTS)).ok(),
            marker: marker.map(|marker| (marker.len(), marker.modified().ok())),
        }
    }
}

pub(super) fn signature(run: &RunDir) -> Signature {
    Signature { files: Files::new(&run.path, &journals(&run.path)), is_written: is_written(&run.path) }
}

pub(super) fn journals(folder: &Path) -> Vec<(PathBuf, u64)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let journals = entries.filter(|entry| is_journal(&entry.path()));
    let sizes = journals.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?.len())));
    let mut sizes: Vec<_> = sizes.collect();
    sizes.sort();
    sizes
}

/// Whether a process writes in a run: it holds a lock on the marker, which ends with the process.
pub(super) fn is_written(folder: &Path) -> bool {
    /// Allows one test at a time: two concurrent tests would take each other for a writer.
    static LOOKS: Mutex<()> = Mutex::new(());

    let looks = LOOKS.lock();
    let marker = File::open(folder.join(MARKER));
    let is_locked = marker.is_ok_and(|marker| matches!(marker.try_lock(), Err(TryLockError::WouldBlock)));
    drop(looks);
    is_locked
}
