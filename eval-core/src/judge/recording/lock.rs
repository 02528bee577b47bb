//! One writer of a recording at a time, over all processes.
//!
//! The lock is on the folder that holds the recording. All processes that record there meet at it, whatever target
//! folder they were built into, and it leaves no file behind. A lock on the recording itself would not do, as each
//! write replaces that file by another, and a lock file beside it would litter a repository.
//!
//! Windows and some network drives lock no folders. There the lock is on a file: in `judge-locks` of `EVALSET_DIR` or
//! of `target/evalset`, and in the temporary folder of the system if there is neither. Processes of different target
//! folders do not meet then, and must not record into one file at once.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eval_format::__private::content_hash;

use super::error::FileError;
use crate::file_lock::{FileLock, open_lock_file};
use crate::target_dir::evalset_dir;

/// How long others may take to write. No write takes a second.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until no other process writes recordings here, and keeps others out. It sleeps meanwhile: see
/// [`blocking`](super::blocking::blocking).
pub(super) fn lock(path: &Path) -> Result<FileLock, FileError> {
    let (lock, place) = locked(path, PATIENCE)?;
    lock.ok_or_else(|| held(&place))
}

/// Keeps others out, unless another process writes recordings here now.
pub(super) fn try_lock(path: &Path) -> Result<Option<FileLock>, FileError> {
    locked(path, Duration::ZERO).map(|(lock, _)| lock)
}

/// The lock, if it was free within this time, and the folder or file that serves as the lock.
fn locked(path: &Path, patience: Duration) -> Result<(Option<FileLock>, PathBuf), FileError> {
    let folder = folder(path);
    let locked = match File::open(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(FileError::write(path, error)),
        opened => opened.and_then(|folder| FileLock::exclusive(folder, patience)),
    };
    match locked {
        Ok(lock) => Ok((lock, folder.to_owned())),
        // This system locks no folders.
        Err(_) => {
            let place = place(path, evalset_dir().map_err(FileError::NoLockFolder)?);
            Ok((lock_file(&place, patience)?, place))
        }
    }
}

/// The folder of a recording.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn lock_file(place: &Path, patience: Duration) -> Result<Option<FileLock>, FileError> {
    let locked = open_lock_file(place).and_then(|file| FileLock::exclusive(file, patience));
    locked.map_err(|error| FileError::lock(place, error))
}

fn held(place: &Path) -> FileError {
    FileError::Held { place: place.to_owned(), waited: PATIENCE }
}

/// The lock file of a recording, for systems that lock no folders.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("evalset-lock-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn is_free(file: File) -> bool {
        FileLock::try_exclusive(file).unwrap().is_some()
    }

    #[cfg(unix)]
    #[test]
    fn who_records_in_a_folder_locks_it_and_leaves_nothing_behind() {
        let folder = scratch("folder");
        let held = lock(&folder.join("x.judge.json")).unwrap();
        assert!(!is_free(File::open(&folder).unwrap()), "whatever its target folder");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        for evalset in [evalset_dir().unwrap(), None] {
            assert!(!place(&folder.join("x.judge.json"), evalset).exists(), "no lock file");
        }
        drop(held);
        assert!(is_free(File::open(&folder).unwrap()));
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

        let held = lock_file(&one, PATIENCE).unwrap().unwrap();
        assert!(!is_free(open_lock_file(&same).unwrap()));
        drop(held);
        drop(lock_file(&same, Duration::ZERO).unwrap().unwrap());
        fs::remove_dir_all(folder).unwrap();
    }
}
