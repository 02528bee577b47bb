//! Locks on files.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};

/// A lock that is held until this value is dropped.
#[derive(Debug)]
#[must_use = "the lock is free again as soon as this is dropped"]
pub struct FileLock {
    pub(super) file: File,
}

impl FileLock {
    /// Locks a file for this value alone, without waiting. `None` if another holds a lock on it.
    pub fn try_exclusive(file: File) -> io::Result<Option<Self>> {
        Ok(try_lock(&file)?.then_some(Self { file }))
    }

    /// Locks a file together with all who share it, and waits as long as somebody has it alone.
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

/// Whether the lock was free, and is held now.
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
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
}
