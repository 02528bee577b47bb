//! Locks on files.

#[cfg(feature = "judges")]
use std::fs::{self, OpenOptions};
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
#[cfg(feature = "judges")]
use std::path::Path;
#[cfg(feature = "judges")]
use std::thread;
#[cfg(feature = "judges")]
use std::time::{Duration, Instant};

/// How long to sleep before an exclusive lock is tried again.
#[cfg(feature = "judges")]
const PAUSE: Duration = Duration::from_millis(5);

/// A lock that is held until this value is dropped.
#[derive(Debug)]
#[must_use = "the lock is free again as soon as this is dropped"]
pub(crate) struct FileLock {
    file: File,
}

impl FileLock {
    /// Locks a file for this value alone, without waiting. `None` if another holds a lock on it.
    pub(crate) fn try_exclusive(file: File) -> io::Result<Option<Self>> {
        Ok(try_lock(&file)?.then_some(Self { file }))
    }

    /// Locks a file for this value alone, and waits for that at most as long as `patience` says. `None` if another
    /// still holds a lock on it then.
    ///
    /// The lock is tried again and again: no system lets a process wait for a limited time.
    #[cfg(feature = "judges")]
    pub(crate) fn exclusive(file: File, patience: Duration) -> io::Result<Option<Self>> {
        let begun = Instant::now();
        while !try_lock(&file)? {
            if begun.elapsed() >= patience {
                return Ok(None);
            }
            thread::sleep(PAUSE);
        }
        Ok(Some(Self { file }))
    }

    /// Locks a file together with all who share it, and waits as long as somebody has it alone.
    pub(crate) fn shared(file: File) -> io::Result<Self> {
        // A signal interrupts the wait; it says nothing about the lock.
        while let Err(error) = file.lock_shared() {
            if error.kind() != ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(Self { file })
    }

    /// The file that is locked.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

/// Whether the lock was free, and is held now.
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

/// Opens a file that serves as a lock alone. The file and its folder are made if they are missing.
///
/// Nobody removes such a file: another process may wait for a file that is removed, while a third one makes a new file.
#[cfg(feature = "judges")]
pub(crate) fn open_lock_file(path: &Path) -> io::Result<File> {
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
    use std::path::PathBuf;
    use std::{env, fs};

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

    #[cfg(feature = "judges")]
    #[test]
    fn patience_has_an_end_and_a_lock_that_gets_free_is_taken() {
        let scratch = Scratch::new("patience");
        let held = FileLock::try_exclusive(scratch.open()).unwrap();
        let begun = Instant::now();
        assert!(FileLock::exclusive(scratch.open(), Duration::from_millis(20)).unwrap().is_none());
        assert!(begun.elapsed() >= Duration::from_millis(20));
        let file = scratch.open();
        let waiting = thread::spawn(move || FileLock::exclusive(file, Duration::from_secs(30)).unwrap());
        thread::sleep(Duration::from_millis(20));
        drop(held);
        assert!(waiting.join().unwrap().is_some());
    }

    #[cfg(feature = "judges")]
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
