//! The file of a recording: several processes add to it at once, and any of them may be killed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use eval_format::{GrowingRecording, RecordedQuestion, Recording};

use super::lock::lock;

/// A recording as it stands in its file.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    growing: GrowingRecording,
    /// Whether there is a file.
    exists: bool,
}

impl Loaded {
    /// Reads a text.
    pub(super) fn parse(shown: &str, text: &str) -> Result<Self, String> {
        let growing = GrowingRecording::read(shown, text).map_err(|problems| problems.to_string())?;
        Ok(Self { growing, exists: true })
    }

    pub(super) fn recording(&self) -> &Recording {
        self.growing.recording()
    }

    /// Takes over what the file holds now.
    fn refresh(&mut self, path: &Path) -> Result<(), String> {
        match read(path)? {
            None => *self = Self::default(),
            Some(text) => {
                let shown = path.display().to_string();
                self.growing.follow(&shown, &text).map_err(|problems| problems.to_string())?;
                self.exists = true;
            }
        }
        Ok(())
    }
}

/// Recordings that were read and are not in use: the tests of a process mostly share one, and reading a large one
/// takes longer than following what was added to it.
static SPARE: Mutex<BTreeMap<PathBuf, Vec<Loaded>>> = Mutex::new(BTreeMap::new());

fn spare() -> MutexGuard<'static, BTreeMap<PathBuf, Vec<Loaded>>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a file; one that is not there holds nothing.
pub(super) fn load(path: &Path) -> Result<Loaded, String> {
    let mut loaded = spare().get_mut(path).and_then(Vec::pop).unwrap_or_default();
    loaded.refresh(path)?;
    Ok(loaded)
}

/// Keeps a recording for the next one that reads the file.
pub(super) fn give_back(path: &Path, loaded: Loaded) {
    spare().entry(path.to_owned()).or_default().push(loaded);
}

fn read(path: &Path) -> Result<Option<String>, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read `{}`: {error}", path.display())),
    }
}

/// Adds a question to what the file holds now, and says whether the file is new.
///
/// A file that cannot be read is left as it is.
pub(super) fn add(path: &Path, loaded: &mut Loaded, question: RecordedQuestion) -> Result<bool, String> {
    let _lock = lock(path)?;
    loaded.refresh(path)?;
    let is_new = !loaded.exists;
    if loaded.growing.add(question) || is_new {
        replace(path, loaded.growing.text()).map_err(|error| cannot_write(path, &error))?;
        loaded.exists = true;
    }
    Ok(is_new)
}

/// Finds out whether a recording can be written, before an answer is paid for.
pub(super) fn try_place(path: &Path) -> Result<(), String> {
    let _lock = lock(path)?;
    let draft = draft(path);
    let tried = File::create(&draft).and_then(|_| fs::remove_file(&draft));
    tried.map_err(|error| cannot_write(path, &error))
}

pub(super) fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write `{}`: {error}", path.display())
}

/// Where a file is written before it takes the place of the old one.
///
/// It is always the same, since there is one writer at a time: what a killed one left is written over.
fn draft(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

/// Puts a whole new file in the place of the old one: whoever reads sees the one or the other.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let draft = draft(path);
    let written = File::create(&draft)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The draft may not even exist; what went wrong before says more.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Makes a file look as if it had just been written. Where that is not allowed the tests say that they are stale.
pub(super) fn touch(path: &Path) {
    if let Ok(file) = OpenOptions::new().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}
