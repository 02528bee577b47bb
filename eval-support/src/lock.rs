//! Locks on files and folders, between all threads and processes of a machine.
//!
//! A lock belongs to an open file. It is free again when the value that holds it is dropped and when the process ends,
//! however it ends. Locks are advisory: they bind only the processes that ask for them.
//!
//! Not every system locks everything: Windows locks no folders, and some network drives lock nothing. Making a
//! [`FileLock`] fails there. The caller decides what that means: the journal goes on without a lock, and slots are
//! counted within the process. A [`FolderLock`] locks a file in the temporary folder instead.

mod folder;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

pub use folder::{FolderLock, FolderLockError};

/// The sleep before an exclusive lock is tried again.
const PAUSE: Duration = Duration::from_millis(5);

/// A lock that is held until this value is dropped.
#[derive(Debug)]
#[must_use = "the lock is free again as soon as this is dropped"]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Takes an exclusive lock without waiting. `None` if the file is locked already.
    pub fn try_exclusive(file: File) -> io::Result<Option<Self>> {
        Ok(try_lock(&file)?.then_some(Self { file }))
    }

    /// Takes an exclusive lock, and waits for it up to `patience`. `None` if the file is still locked then.
    ///
    /// The lock is polled, as no system has a wait for a lock with a timeout.
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

    /// Takes a shared lock on a file. Waits while another process holds the exclusive lock.
    pub fn shared(file: File) -> io::Result<Self> {
        // A signal interrupts the wait; it says nothing about the lock.
        while let Err(error) = file.lock_shared() {
            if error.kind() != ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(Self { file })
    }

    /// The file that is locked.
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// Tries to take an exclusive lock. Returns whether the lock is held now.
fn try_lock(file: &File) -> io::Result<bool> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Opens a file that serves only as a lock. The file and its folder are created if they are missing.
///
/// Such a file is never removed: one process could wait for the removed file while another locks a new one.
pub fn open_lock_file(path: &Path) -> io::Result<File> {
    let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    match open() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            open()
        }
        // The file belongs to another user. Reading is enough to lock it.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(path),
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::path::PathBuf;

    use super::*;

    /// A file that is removed when this value is dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(test: &str) -> Self {
            Self(env::temp_dir().join(format!("evalset-file-lock-{}-{test}", std::process::id())))
        }

        fn open(&self) -> File {
            File::options().read(true).write(true).create(true).truncate(false).open(&self.0).unwrap()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            drop(fs::remove_file(&self.0));
        }
    }

    #[test]
    fn an_exclusive_lock_keeps_all_others_out_until_it_is_dropped() {
        let scratch = Scratch::new("exclusive");
        let held = FileLock::try_exclusive(scratch.open()).unwrap().unwrap();
        assert!(FileLock::try_exclusive(scratch.open()).unwrap().is_none());
        drop(held);
        assert!(FileLock::try_exclusive(scratch.open()).unwrap().is_some());
    }

    #[test]
    fn shared_locks_stand_together_and_keep_an_exclusive_one_out() {
        let scratch = Scratch::new("shared");
        let held = [FileLock::shared(scratch.open()).unwrap(), FileLock::shared(scratch.open()).unwrap()];
        assert!(FileLock::try_exclusive(scratch.open()).unwrap().is_none());
        let [first, second] = held;
        drop(first);
        assert!(FileLock::try_exclusive(scratch.open()).unwrap().is_none());
        assert_eq!(second.file().metadata().unwrap().len(), 0);
        drop(second);
        assert!(FileLock::try_exclusive(scratch.open()).unwrap().is_some());
    }

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
