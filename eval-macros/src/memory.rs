//! What was read, each version of a file once.
//!
//! An editor's server expands the same attribute on every key stroke and lives for hours; a file that
//! has not changed since is not read again.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use crate::files::SourceFile;
use crate::sets::ReadError;

/// What was made of files, by the files.
pub(crate) struct Memory<T>(LazyLock<Mutex<HashMap<Vec<SourceFile>, Version<T>>>>);

/// What was made, and the stamps that the files had then.
type Version<T> = (Vec<Option<Stamp>>, Arc<T>);

impl<T> Memory<T> {
    pub(crate) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// What `read` makes of these files, or made when they were as they are now.
    pub(crate) fn get(
        &self,
        files: &[&SourceFile],
        read: impl FnOnce() -> Result<T, ReadError>,
    ) -> Result<Arc<T>, ReadError> {
        let key: Vec<SourceFile> = files.iter().copied().cloned().collect();
        let stamps: Vec<Option<Stamp>> = files.iter().map(|file| Stamp::of(file)).collect();
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, made)) = memory.get(&key)
            && *known == stamps
            && known.iter().all(Option::is_some)
        {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(read()?);
        memory.insert(key, (stamps, Arc::clone(&made)));
        Ok(made)
    }
}

/// What changes when a file does; a file that has none is read again.
#[derive(PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    len: u64,
}

impl Stamp {
    fn of(file: &SourceFile) -> Option<Self> {
        let metadata = fs::metadata(&file.absolute).ok()?;
        Some(Self { modified: metadata.modified().ok()?, len: metadata.len() })
    }
}
