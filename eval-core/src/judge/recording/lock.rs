//! One writer of a recording at a time, over all processes.
//!
//! What is locked is the folder that the recording stands in. So all who record there meet, whatever target folder
//! they were built into, nothing is left behind, and the lock ends with the process, however that ends. The recording
//! itself will not do, as each write replaces it by another file, and a lock file beside it would litter a repository.
//!
//! Windows and some network drives lock no folders. There a file is locked: in `judge-locks` of `EVALSET_DIR` or of
//! `target/evalset`, and in the temporary folder of the system where there is neither. Processes of different target
//! folders do not meet then, and must not record into one file at once. Lock files stay: another process may wait for
//! one that is removed, while a third makes a new one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use eval_format::content_hash;

use super::file::cannot_write;
use crate::target_dir::evalset_dir;

/// How long others may take to write; nobody takes a second.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until nobody else writes recordings here. Closing the file frees the lock.
pub(super) fn lock(path: &Path) -> Result<File, String> {
    let folder = folder(path);
    match File::open(folder) {
        Ok(file) => match wait(&file, PATIENCE) {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => return Err(held(folder)),
            Err(TryLockError::Error(_)) => {}
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(cannot_write(path, &error)),
        Err(_) => {}
    }
    lock_file(&place(path, evalset_dir()?))
}

fn lock_file(place: &Path) -> Result<File, String> {
    let failed = |error: &io::Error| format!("cannot lock `{}`: {error}", place.display());
    let file = open(place).map_err(|error| failed(&error))?;
    match wait(&file, PATIENCE) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(held(place)),
        Err(TryLockError::Error(error)) => Err(failed(&error)),
    }
}

fn held(place: &Path) -> String {
    format!("cannot lock `{}`: another process has held it for {PATIENCE:?}", place.display())
}

/// Waits for a lock; `WouldBlock` says that patience ended.
fn wait(file: &File, patience: Duration) -> Result<(), TryLockError> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if begun.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The lock file of a recording, where folders cannot be locked.
fn place(path: &Path, evalset: Option<PathBuf>) -> PathBuf {
    let folder = folder(path);
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = folder.join(path.file_name().unwrap_or_default());
    let hash = content_hash(name.as_os_str().as_encoded_bytes());
    match evalset {
        Some(evalset) => evalset.join("judge-locks").join(format!("{hash:016x}.lock")),
        None => std::env::temp_dir().join(format!("evalset-judge-{hash:016x}.lock")),
    }
}

fn open(place: &Path) -> io::Result<File> {
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    match OpenOptions::new().read(true).write(true).create(true).truncate(false).open(place) {
        // Another user's; reading is enough to lock it.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(place),
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("evalset-lock-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn is_free(file: &File) -> bool {
        match wait(file, Duration::ZERO) {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => panic!("{error}"),
        }
    }

    #[cfg(unix)]
    #[test]
    fn who_records_in_a_folder_locks_it_and_leaves_nothing_behind() {
        let folder = scratch("folder");
        let held = lock(&folder.join("x.judge.json")).unwrap();
        assert!(!is_free(&File::open(&folder).unwrap()), "whatever its target folder");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        for evalset in [evalset_dir().unwrap(), None] {
            assert!(!place(&folder.join("x.judge.json"), evalset).exists(), "no lock file");
        }
        drop(held);
        assert!(is_free(&File::open(&folder).unwrap()));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn lock_files_stand_in_the_target_folder_and_one_serves_all_names_of_a_recording() {
        let folder = scratch("file");
        let (target, evals) = (folder.join("target/evalset"), folder.join("evals"));
        fs::create_dir_all(&evals).unwrap();
        let names = ["x.judge.json", "../evals/x.judge.json"].map(|name| evals.join(name));
        let [one, same] = names.each_ref().map(|name| place(name, Some(target.clone())));
        assert_eq!(one, same);
        assert_eq!(one.parent(), Some(target.join("judge-locks").as_path()));
        assert_ne!(one, place(&evals.join("y.judge.json"), Some(target)));
        assert_eq!(place(&names[0], None).parent(), Some(std::env::temp_dir().as_path()));

        let held = lock_file(&one).unwrap();
        assert!(!is_free(&open(&same).unwrap()));
        drop(held);
        drop(lock_file(&same).unwrap());
        fs::remove_dir_all(folder).unwrap();
    }
}
