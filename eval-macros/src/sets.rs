//! Reading and checking the files, each once per version of it.
//!
//! An editor's server expands the same attribute on every key stroke and lives for hours; a file that
//! has not changed since is not read again.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

use eval_format::{CheckedSet, check_set};

use crate::files::SourceFile;

/// A set as it was found on disk.
#[derive(Debug)]
pub(crate) struct ReadSet {
    pub(crate) checked: CheckedSet,
    /// The bytes of the session file that belongs to it.
    pub(crate) session: Option<Vec<u8>>,
}

/// Reads and checks a set, with the session file if one was named.
pub(crate) fn read_set(set: &SourceFile, session: Option<&SourceFile>) -> Result<Arc<ReadSet>, ReadError> {
    let key = Key { set: set.clone(), session: session.cloned() };
    let stamps = (Stamp::of(set), session.map(Stamp::of));
    let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, read)) = memory.get(&key)
        && *known == stamps
        && known.0.is_some()
    {
        return Ok(Arc::clone(read));
    }
    let bytes = read_file(set)?;
    let session_file = session.map(read_file).transpose()?;
    let named = session.zip(session_file.as_ref()).map(|(at, file)| (at.shown.as_str(), file.as_slice()));
    let checked = check_set(&set.shown, &bytes, named);
    let read = Arc::new(ReadSet { checked, session: session_file });
    memory.insert(key, (stamps, Arc::clone(&read)));
    Ok(read)
}

/// Reads a file.
pub(crate) fn read_file(file: &SourceFile) -> Result<Vec<u8>, ReadError> {
    fs::read(&file.absolute).map_err(|error| ReadError { file: file.shown.clone(), error })
}

/// A file that is there and cannot be read.
#[derive(Debug)]
pub(crate) struct ReadError {
    pub(crate) file: String,
    pub(crate) error: io::Error,
}

static MEMORY: LazyLock<Mutex<Memory>> = LazyLock::new(Mutex::default);

/// What was read, with the stamps the files had then.
type Memory = HashMap<Key, (Stamps, Arc<ReadSet>)>;

/// Of the set and of its session file; a file that has none is read again.
type Stamps = (Option<Stamp>, Option<Option<Stamp>>);

#[derive(PartialEq, Eq, Hash)]
struct Key {
    set: SourceFile,
    session: Option<SourceFile>,
}

/// What changes when a file does.
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
