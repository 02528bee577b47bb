//! Reading and checking the sets, each once per version of it.

use std::sync::Arc;
use std::{fs, io};

use eval_format::{CheckedSet, check_set};

use crate::files::SourceFile;
use crate::memory::Memory;

/// A set as it was found on disk.
#[derive(Debug)]
pub(crate) struct ReadSet {
    pub(crate) checked: CheckedSet,
    /// The bytes of the session file that belongs to it.
    pub(crate) session: Option<Vec<u8>>,
}

/// Reads and checks a set, with the session file if one was named.
pub(crate) fn read_set(set: &SourceFile, session: Option<&SourceFile>) -> Result<Arc<ReadSet>, ReadError> {
    let files: Vec<&SourceFile> = std::iter::once(set).chain(session).collect();
    MEMORY.get(&files, || {
        let bytes = read_file(set)?;
        let session_file = session.map(read_file).transpose()?;
        let named = session.zip(session_file.as_ref()).map(|(at, file)| (at.shown.as_str(), file.as_slice()));
        Ok(ReadSet { checked: check_set(&set.shown, &bytes, named), session: session_file })
    })
}

static MEMORY: Memory<ReadSet> = Memory::new();

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
