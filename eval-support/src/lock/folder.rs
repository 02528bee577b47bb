//! A lock that lets one process at a time write in a folder.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{FileLock, open_lock_file};
use crate::hash::content_hash;

/// The time limit for taking the lock. No write takes a second.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// A lock on a folder, held until it is dropped. It excludes all writers that ask for it.
///
/// The lock is on the folder itself, so it leaves nothing behind. A lock on the written file would not work:
/// each write replaces that file. A lock file beside it would litter a repository.
///
/// Windows and some network drives lock no folders. There the lock is on a file in the temporary folder of the system:
/// only processes with the same temporary folder keep each other out.
#[derive(Debug)]
#[must_use = "the lock is free again as soon as this is dropped"]
pub struct FolderLock {
    _held: FileLock,
}

/// The reason why a folder is not locked.
#[derive(Debug)]
pub enum FolderLockError {
    /// The folder, or the file that serves as its lock, cannot be opened or locked.
    Io {
        /// The folder or the file.
        place: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Another process held the lock during the whole wait.
    Held {
        /// The folder, or the file that serves as its lock.
        place: PathBuf,
        /// The time of waiting.
        waited: Duration,
    },
}

impl fmt::Display for FolderLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { place, error } => write!(f, "cannot lock `{}`: {error}", place.display()),
            Self::Held { place, waited } => {
                write!(f, "cannot lock `{}`: another process has held it for {waited:?}", place.display())
            }
        }
    }
}

impl std::error::Error for FolderLockError {}

impl FolderLock {
    /// Locks the folder of a file. Blocks the thread for at most 30 s while another writer holds the lock.
    ///
    /// `path` is the file itself, not a link to it: a link in another folder would take another lock.
    pub fn beside(path: &Path) -> Result<Self, FolderLockError> {
        let (lock, place) = locked(path, LOCK_TIMEOUT)?;
        lock.ok_or(FolderLockError::Held { place, waited: LOCK_TIMEOUT })
    }

    /// Takes the lock without waiting. `None` if another process holds it.
    pub fn try_beside(path: &Path) -> Result<Option<Self>, FolderLockError> {
        locked(path, Duration::ZERO).map(|(lock, _)| lock)
    }
}

/// The lock, if it was free within this time, and the folder or file that serves as the lock.
fn locked(path: &Path, patience: Duration) -> Result<(Option<FolderLock>, PathBuf), FolderLockError> {
    let folder = folder_of(path);
    let failed = |place: &Path, error| Err(FolderLockError::Io { place: place.to_owned(), error });
    let locked = match File::open(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return failed(folder, error),
        opened => opened.and_then(|folder| FileLock::exclusive(folder, patience)),
    };
    let (locked, place) = match locked {
        Ok(lock) => (lock, folder.to_owned()),
        // This system locks no folders.
        Err(_) => {
            let place = lock_file_of(path);
            match open_lock_file(&place).and_then(|file| FileLock::exclusive(file, patience)) {
                Ok(lock) => (lock, place),
                Err(error) => return failed(&place, error),
            }
        }
    };
    Ok((locked.map(|held| FolderLock { _held: held }), place))
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The file that serves as the lock of a file's folder where folders cannot be locked.
fn lock_file_of(path: &Path) -> PathBuf {
    let folder = fs::canonicalize(folder_of(path)).unwrap_or_else(|_| folder_of(path).to_owned());
    let hash = content_hash(folder.as_os_str().as_encoded_bytes());
    std::env::temp_dir().join(format!("evalset-{hash:016x}.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn who_writes_in_a_folder_keeps_the_others_out_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.evalset.json");
        let held = FolderLock::beside(&path).unwrap();
        assert!(FolderLock::try_beside(&folder.path().join("y.judge.json")).unwrap().is_none());
        let (free, place) = locked(&path, Duration::from_millis(20)).unwrap();
        assert!(free.is_none());
        let error = FolderLockError::Held { place, waited: LOCK_TIMEOUT }.to_string();
        assert!(error.ends_with("another process has held it for 30s"), "{error}");
        drop(held);
        drop(FolderLock::try_beside(&path).unwrap().expect("it is free again"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(!lock_file_of(&path).exists(), "no lock file elsewhere");
    }

    #[test]
    fn where_folders_cannot_be_locked_one_lock_file_serves_all_names_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("evals")).unwrap();
        let [one, same, other] = ["evals/x.json", "evals/../evals/y.json", "x.json"]
            .map(|name| lock_file_of(&folder.path().join(name)));
        assert_eq!(one, same);
        assert_ne!(one, other);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = FolderLock::beside(&folder.path().join("missing/x.json")).unwrap_err().to_string();
        assert!(error.contains("missing`: "), "{error}");
    }
}
