//! The file of a recording. Several processes add to it at the same time, and each of them may be killed at any time.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use eval_format::__private::GrowingRecording;
use eval_format::recording::{RecordedQuestion, Recording};
use tempfile::NamedTempFile;

use super::error::FileError;
use super::lock::{folder, lock};

/// A recording as it was last read from its file.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    growing: GrowingRecording,
    /// Whether there is a file.
    exists: bool,
}

impl Loaded {
    /// Reads a text.
    pub(super) fn parse(shown: &str, text: &str) -> Result<Self, FileError> {
        let growing = GrowingRecording::read(shown, text).map_err(FileError::NotARecording)?;
        Ok(Self { growing, exists: true })
    }

    pub(super) fn recording(&self) -> &Recording {
        self.growing.recording()
    }

    /// Takes over what the file holds now.
    fn refresh(&mut self, path: &Path) -> Result<(), FileError> {
        match read(path)? {
            None => *self = Self::default(),
            Some(text) => {
                let shown = path.display().to_string();
                self.growing.follow(&shown, &text).map_err(FileError::NotARecording)?;
                self.exists = true;
            }
        }
        Ok(())
    }
}

/// Recordings that were read and are not in use now. Most tests of a process share one recording, and to follow what
/// was added to a large recording takes less time than to read it again.
static SPARE: Mutex<BTreeMap<PathBuf, Vec<Loaded>>> = Mutex::new(BTreeMap::new());

fn spare() -> MutexGuard<'static, BTreeMap<PathBuf, Vec<Loaded>>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a file. A file that does not exist is an empty recording.
pub(super) fn load(path: &Path) -> Result<Loaded, FileError> {
    let mut loaded = spare().get_mut(path).and_then(Vec::pop).unwrap_or_default();
    loaded.refresh(path)?;
    Ok(loaded)
}

/// Keeps a recording for the next [`load`] of its file.
pub(super) fn give_back(path: &Path, loaded: Loaded) {
    spare().entry(path.to_owned()).or_default().push(loaded);
}

fn read(path: &Path) -> Result<Option<String>, FileError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::read(path, error)),
    }
}

/// Adds a question to what the file holds now. Returns whether the file is new.
///
/// A file that cannot be read is left as it is.
pub(super) fn add(path: &Path, loaded: &mut Loaded, question: RecordedQuestion) -> Result<bool, FileError> {
    let _lock = lock(path)?;
    loaded.refresh(path)?;
    let is_new = !loaded.exists;
    if loaded.growing.add(question) || is_new {
        replace(path, loaded.growing.text()).map_err(|error| FileError::write(path, error))?;
        loaded.exists = true;
    }
    Ok(is_new)
}

/// Fails if a recording cannot be written, before an answer is paid for.
pub(super) fn check_writable(path: &Path) -> Result<(), FileError> {
    let _lock = lock(path)?;
    draft(path).map(drop).map_err(|error| FileError::write(path, error))
}

/// Puts a whole new file in the place of the old one. A reader sees the one or the other.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut draft = draft(path)?;
    draft.write_all(text.as_bytes())?;
    draft.persist(path)?;
    Ok(())
}

/// A new file beside a recording. It is removed when it is dropped, unless it takes the place of the recording.
fn draft(path: &Path) -> io::Result<NamedTempFile> {
    let prefix = format!(".{}.", path.file_name().unwrap_or_default().display());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file, the umask decides who may read it; otherwise it would be its owner alone.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder(path))
}

/// Makes a file look as if it had just been written. If that is not allowed, the tests report that they are stale.
pub(super) fn touch(path: &Path) {
    if let Ok(file) = OpenOptions::new().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_recording_is_a_file_like_any_other() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("evalset-file-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (recording, other) = (folder.join("x.judge.json"), folder.join("other"));
        fs::write(&other, "").unwrap();
        replace(&recording, "text").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&recording), mode(&other));
        fs::remove_dir_all(folder).unwrap();
    }
}
