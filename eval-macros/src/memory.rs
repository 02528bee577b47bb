//! A cache for reading each version of a file once.
//!
//! An editor's server expands the same attribute on every key stroke and lives for hours. A file that has not
//! changed is not read again.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;
use std::{fs, io};

use proc_macro2::Span;

use crate::diagnostics::Diagnostics;
use crate::files::SourceFile;
use eval_support::mutex::Mutex;

/// A cache of values that are made from files, by the files.
pub(crate) struct Memory<T>(LazyLock<Mutex<HashMap<Vec<SourceFile>, Version<T>>>>);

/// The stamps of the files when they were read, and the value that was made from them.
type Version<T> = (Vec<Option<Stamp>>, Arc<T>);

impl<T> Memory<T> {
    pub(crate) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// The value that `read` makes from these files. If their stamps have not changed, the value comes from
    /// the cache.
    pub(crate) fn get(
        &self,
        files: &[&SourceFile],
        read: impl FnOnce() -> Result<T, Unreadable>,
    ) -> Result<Arc<T>, Unreadable> {
        let key: Vec<SourceFile> = files.iter().copied().cloned().collect();
        let stamps: Vec<Option<Stamp>> = files.iter().map(|file| Stamp::of(file)).collect();
        let mut memory = self.0.lock();
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

/// The version of a file. A file without a stamp is always read again.
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

pub(crate) fn read_file(file: &SourceFile) -> Result<Vec<u8>, Unreadable> {
    fs::read(&file.absolute).map_err(|error| Unreadable { file: file.shown.clone(), error })
}

#[derive(Debug)]
pub(crate) struct Unreadable {
    file: String,
    error: io::Error,
}

impl Unreadable {
    /// Reports it on the path that named the file.
    pub(crate) fn report(&self, span: Span, diagnostics: &mut Diagnostics) {
        diagnostics.error(
            span,
            format!("cannot read `{}`: {}", self.file, self.error),
            match self.error.kind() {
                io::ErrorKind::NotFound => {
                    "it is a link to a file that does not exist: restore that file, or remove the link"
                }
                _ => "check that it is a file that you may read",
            },
        );
    }
}
