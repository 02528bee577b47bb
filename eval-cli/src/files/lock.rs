//! One writer of a file at a time, over all processes.
//!
//! The lock is on the folder that holds the file, so it leaves nothing behind. A lock on the file itself would not do:
//! each write replaces that file by another one. Windows and some network drives lock no folders. There the lock is on a
//! file in the temporary folder of the system.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use eval_format::__private::content_hash;

/// How long others may take. No edit takes a second.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long to wait before the lock is tried again.
const PAUSE: Duration = Duration::from_millis(5);

/// A lock that is held until this value is dropped, or the process ends.
#[derive(Debug)]
#[must_use = "the lock is free again as soon as this is dropped"]
pub(crate) struct WriteLock {
    _held: File,
}

/// Keeps other processes that edit a file out, and waits for those that edit it now. `path` is the file itself, not a
/// link to it.
pub(crate) fn lock_for_writing(path: &Path) -> io::Result<WriteLock> {
    match File::open(folder_of(path)).and_then(|folder| exclusive(folder, PATIENCE)) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::TimedOut) => Err(error),
        // This system locks no folders.
        Err(_) => exclusive(lock_file(&place(path))?, PATIENCE),
        locked => locked,
    }
}

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn exclusive(file: File, patience: Duration) -> io::Result<WriteLock> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(WriteLock { _held: file }),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= patience => {
                let seconds = patience.as_secs();
                let why = format!("another process has written files of this folder for {seconds} s");
                return Err(io::Error::new(ErrorKind::TimedOut, why));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn lock_file(place: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(place)
}

/// The lock file of a file, for systems that lock no folders.
fn place(path: &Path) -> PathBuf {
    let folder = fs::canonicalize(folder_of(path)).unwrap_or_else(|_| folder_of(path).to_owned());
    let name = folder.join(path.file_name().unwrap_or_default());
    let hash = content_hash(name.as_os_str().as_encoded_bytes());
    std::env::temp_dir().join(format!("evalset-edit-{hash:016x}.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_editor_of_a_file_keeps_the_others_out_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.evalset.json");
        let held = lock_for_writing(&path).expect("a lock");
        if cfg!(unix) {
            let again = exclusive(File::open(folder.path()).expect("a folder"), Duration::from_millis(20));
            assert_eq!(again.expect_err("it is held").kind(), ErrorKind::TimedOut);
        }
        drop(held);
        drop(lock_for_writing(&path).expect("it is free again"));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn where_folders_cannot_be_locked_one_lock_file_serves_all_names_of_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("evals")).expect("a folder");
        let [one, same, other] = ["evals/x.json", "evals/../evals/x.json", "evals/y.json"]
            .map(|name| place(&folder.path().join(name)));
        assert_eq!(one, same);
        assert_ne!(one, other);
        let held = exclusive(lock_file(&one).expect("a lock file"), PATIENCE).expect("a lock");
        assert!(exclusive(lock_file(&same).expect("a lock file"), Duration::ZERO).is_err());
        drop(held);
        drop(fs::remove_file(one));
    }
}
