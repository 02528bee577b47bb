//! Reading and checking the sets, each version of a file once.

use std::sync::Arc;

use eval_format::reader::{CheckedSet, check_set};

use crate::files::SourceFile;
use crate::memory::{Memory, Unreadable, read_file};

/// A set as it was found on disk.
#[derive(Debug)]
pub(crate) struct ReadSet {
    pub(crate) checked: CheckedSet,
    /// The bytes of the session file that belongs to it.
    pub(crate) session: Option<Vec<u8>>,
}

impl ReadSet {
    /// Whether a model plays the user in some case. The cases of a file with errors are unknown, so they may
    /// have one.
    pub(crate) fn may_simulate_users(&self) -> bool {
        let set = self.checked.set.as_ref();
        set.is_none_or(|set| set.eval_cases.iter().any(|case| case.conversation_scenario.is_some()))
    }
}

/// Reads and checks a set, with the session file if one was named.
pub(crate) fn read_set(set: &SourceFile, session: Option<&SourceFile>) -> Result<Arc<ReadSet>, Unreadable> {
    let files: Vec<&SourceFile> = std::iter::once(set).chain(session).collect();
    MEMORY.get(&files, || {
        let bytes = read_file(set)?;
        let session_file = session.map(read_file).transpose()?;
        let named = session.zip(session_file.as_ref()).map(|(at, file)| (at.shown.as_str(), file.as_slice()));
        Ok(ReadSet { checked: check_set(&set.shown, &bytes, named), session: session_file })
    })
}

static MEMORY: Memory<ReadSet> = Memory::new();
