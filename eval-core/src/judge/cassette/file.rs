//! The file of a recording: several processes add to it at once, and any of them may be killed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use eval_format::{RecordedQuestion, Recording, check_recording, content_hash};

/// A recording together with the text that it was read from.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) recording: Recording,
    /// None where there was no file.
    text: Option<String>,
}

impl Loaded {
    /// Reads a text.
    pub(super) fn parse(shown: &str, text: &str) -> Result<Self, String> {
        let recording =
            check_recording(shown, text.as_bytes()).into_result().map_err(|problems| problems.to_string())?;
        Ok(Self { recording, text: Some(text.to_owned()) })
    }
}

/// Reads a file; one that is not there holds nothing.
pub(super) fn load(path: &Path) -> Result<Loaded, String> {
    match read(path)? {
        Some(text) => Loaded::parse(&path.display().to_string(), &text),
        None => Ok(Loaded::default()),
    }
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
/// `known` is what was last seen of it, so that it need not be read again where nobody else has written. A file
/// that cannot be read is left as it is.
pub(super) fn add(
    path: &Path,
    known: Option<Loaded>,
    question: RecordedQuestion,
) -> Result<(Loaded, bool), String> {
    let _lock = lock(path)?;
    let text = read(path)?;
    let is_new = text.is_none();
    let mut loaded = match (known, text) {
        (Some(known), text) if known.text == text => known,
        (_, None) => Loaded::default(),
        (_, Some(text)) => Loaded::parse(&path.display().to_string(), &text)?,
    };
    loaded.recording.add(question);
    let text = loaded.recording.to_json();
    if loaded.text.as_ref() != Some(&text) {
        replace(path, &text).map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        loaded.text = Some(text);
    }
    Ok((loaded, is_new))
}

/// Puts a whole new file in the place of the old one: whoever reads sees the one or the other.
///
/// The draft is always the same, since there is one writer at a time: what a killed one left is written over.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.tmp"));
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

/// How long others may take to write; nobody takes a second.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until nobody else writes the recording. The lock ends with the process, however that ends.
fn lock(path: &Path) -> Result<File, String> {
    let file = lock_path(path);
    let failed = |error: &dyn std::fmt::Display| format!("cannot lock `{}`: {error}", file.display());
    let lock = open_lock(&file).map_err(|error| failed(&error))?;
    let begun = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
            Err(TryLockError::WouldBlock) if begun.elapsed() > PATIENCE => {
                return Err(failed(&format!("another process has held it for {PATIENCE:?}")));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Not beside the recording: a file that is replaced cannot be locked, and another one would be left behind there.
fn lock_path(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = folder.join(path.file_name().unwrap_or_default());
    let hash = content_hash(name.as_os_str().as_encoded_bytes());
    std::env::temp_dir().join(format!("evalset-judge-{hash:016x}.lock"))
}

fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match options.read(true).write(true).create(true).truncate(false).open(path) {
        // Another user's; reading is enough to lock it.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(path),
        opened => opened,
    }
}
