//! Locks that are waited for, and files that serve as locks alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::file::{FileLock, try_lock};

/// How long to sleep before an exclusive lock is tried again.
const PAUSE: Duration = Duration::from_millis(5);

impl FileLock {
    /// Locks a file for this value alone, and waits for that at most as long as `patience` says. `None` if another
    /// still holds a lock on it then.
    ///
    /// The lock is tried again and again: no system lets a process wait for a limited time.
    pub fn exclusive(file: File, patience: Duration) -> io::Result<Option<Self>> {
        let begun = Instant::now();
        while !try_lock(&file)? {
            if begun.elapsed() >= patience {
                return Ok(None);
            }
            thread::sleep(PAUSE);
        }
        Ok(Some(Self { file }))
    }
}

/// Opens a file that serves as a lock alone. The file and its folder are made if they are missing.
///
/// Nobody removes such a file: another process may wait for a file that is removed, while a third one makes a new file.
pub fn open_lock_file(path: &Path) -> io::Result<File> {
    let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    match open() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            open()
        }
        // The file is another user's. Reading is enough to lock it.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(path),
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    #[test]
    fn patience_has_an_end_and_a_lock_that_gets_free_is_taken() {
        let scratch = tempfile::NamedTempFile::new().unwrap();
        let held = FileLock::try_exclusive(scratch.reopen().unwrap()).unwrap();
        let begun = Instant::now();
        assert!(FileLock::exclusive(scratch.reopen().unwrap(), Duration::from_millis(20)).unwrap().is_none());
        assert!(begun.elapsed() >= Duration::from_millis(20));
        let file = scratch.reopen().unwrap();
        let waiting = thread::spawn(move || FileLock::exclusive(file, Duration::from_secs(30)).unwrap());
        thread::sleep(Duration::from_millis(20));
        drop(held);
        assert!(waiting.join().unwrap().is_some());
    }

    #[test]
    fn a_lock_file_is_made_with_its_folder() {
        let folder = env::temp_dir().join(format!("evalset-file-lock-{}-folder", std::process::id()));
        let path = folder.join("locks").join("0.lock");
        drop(open_lock_file(&path).unwrap());
        let held = FileLock::try_exclusive(open_lock_file(&path).unwrap()).unwrap();
        assert!(held.is_some() && path.is_file());
        fs::remove_dir_all(folder).unwrap();
    }
}
