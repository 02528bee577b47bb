//! The recordings of a set: compiled into a test, or in the folder beside the set, where they are written too.

mod rename;
mod secrets;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use eval_format::conventions::{MODELS_SUFFIX, SHARED_MODELS, models_file};
use eval_support::file::read_file;
use eval_support::lock::{FolderLock, FolderLockError};
use eval_support::secrets::secret_variables;
use eval_support::whole_file::{check_replaceable, replace};

use crate::recording::{CaseRecording, Exchange, Shared, by_hand};
pub(crate) use secrets::hide_key;

/// The largest recording of a case.
const MAX_RECORDING_BYTES: usize = 5 << 20;

/// The folder with the recordings of a set.
#[derive(Clone, Debug)]
pub struct ModelsFolder {
    path: PathBuf,
    /// The folder as messages show it.
    shown: String,
    /// A file whose time changes with each new file, so that cargo builds its tests again.
    touched: Option<PathBuf>,
}

/// The recording of a case as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) recording: CaseRecording,
    pub(crate) shared: Shared,
    /// The requests with answers that a person made, for all cases.
    pub(crate) by_hand: Vec<Exchange>,
    pub(crate) exists: bool,
}

impl Loaded {
    /// A case without a recording.
    pub(crate) fn of(eval_id: &str) -> Self {
        Self { recording: CaseRecording::new(eval_id), ..Self::default() }
    }
}

/// The texts that were compiled into a test.
#[derive(Clone, Copy, Debug)]
pub struct CompiledModels {
    /// The text of `shared.json`.
    pub shared: Option<&'static str>,
    /// The text of the case.
    pub case: Option<&'static str>,
}

impl ModelsFolder {
    /// The folder at a path, whether it exists or not.
    pub fn new(path: impl Into<PathBuf>, shown: impl Into<String>) -> Self {
        Self { path: path.into(), shown: shown.into(), touched: None }
    }

    /// The same folder, beside a file whose time changes with each new recording, so that cargo builds its tests again.
    #[must_use]
    pub fn touching(self, file: PathBuf) -> Self {
        Self { touched: Some(file), ..self }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the folder exists.
    pub fn exists(&self) -> bool {
        self.path.is_dir()
    }

    /// Whether the folder exists. Fails if something else is in its place, or a link that leads nowhere.
    pub fn is_there(&self) -> Result<bool, String> {
        let is_taken = !self.exists() && fs::symlink_metadata(&self.path).is_ok();
        if !is_taken {
            return Ok(self.exists());
        }
        Err(format!(
            "`{}` is to be the folder of recorded calls of models, and is a file, or a link that leads nowhere: restore it, or \
             remove it",
            self.shown
        ))
    }

    /// The file of a case as messages show it.
    pub fn shown_file(&self, eval_id: &str) -> String {
        format!("{}/{}", self.shown, models_file(eval_id))
    }

    /// The file of all cases as messages show it.
    pub(crate) fn shown_shared(&self) -> String {
        format!("{}/{SHARED_MODELS}", self.shown)
    }

    /// The folder as messages show it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// The name of a folder of recordings beside this one whose set is not there, as after a renaming.
    pub(crate) fn without_a_set(&self) -> Option<String> {
        let names = fs::read_dir(self.path.parent()?)
            .ok()?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut folders: Vec<String> = names
            .filter(|name| {
                let other = Self::new(self.path.with_file_name(name), "");
                let set = name
                    .strip_suffix(MODELS_SUFFIX)
                    .map(|stem| self.path.with_file_name(format!("{stem}.json")));
                set.is_some_and(|set| !set.exists()) && other.files().is_ok_and(|files| !files.is_empty())
            })
            .collect();
        folders.sort();
        folders.into_iter().next()
    }

    fn read_text(&self, name: &str) -> Result<Option<String>, String> {
        match read_file(&self.path.join(name)) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(format!("`{}/{name}` is not UTF-8", self.shown)),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot read `{}/{name}`: {error}", self.shown)),
        }
    }

    /// Reads what all cases share.
    pub fn shared(&self) -> Result<Shared, String> {
        let text = self.read_text(SHARED_MODELS)?;
        parse_shared(text.as_deref(), &self.shown)
    }

    /// Reads the recording of a case; `None` if there is none.
    pub fn case(&self, eval_id: &str) -> Result<Option<CaseRecording>, String> {
        let loaded = self.load(eval_id)?;
        Ok(loaded.exists.then_some(loaded.recording))
    }

    pub(crate) fn load(&self, eval_id: &str) -> Result<Loaded, String> {
        self.steady(|| self.load_now(eval_id))
    }

    /// Reads files of the folder. If that fails, it reads them again while no writer is between two of them.
    fn steady<T>(&self, read: impl Fn() -> Result<T, String>) -> Result<T, String> {
        read().or_else(|why| match self.lock() {
            Ok(_lock) => read(),
            Err(_) => Err(why),
        })
    }

    fn load_now(&self, eval_id: &str) -> Result<Loaded, String> {
        let shared = self.read_text(SHARED_MODELS)?;
        let case = self.read_text(&models_file(eval_id))?;
        load(eval_id, shared.as_deref(), case.as_deref(), &self.shown, &self.shown_file(eval_id))
    }

    pub(crate) fn load_compiled(&self, eval_id: &str, texts: CompiledModels) -> Result<Loaded, String> {
        load(eval_id, texts.shared, texts.case, &self.shown, &self.shown_file(eval_id))
    }

    /// The names of the files of cases, in order. `shared.json` is not one of them.
    pub fn files(&self) -> io::Result<Vec<String>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if Path::new(&name).extension().is_some_and(|end| end == "json")
                && name != SHARED_MODELS
                && !name.starts_with('.')
            {
                files.push(name);
            }
        }
        files.sort();
        Ok(files)
    }

    /// Reads the recording in a file of the folder.
    pub fn read(&self, name: &str) -> Result<CaseRecording, String> {
        self.steady(|| {
            let text =
                self.read_text(name)?.ok_or_else(|| format!("`{}/{name}` does not exist", self.shown))?;
            let shared = self.shared()?;
            CaseRecording::parse(&text, &shared).map_err(|why| format!("`{}/{name}`: {why}", self.shown))
        })
    }

    /// Fails if the recording of a case could not be written, as far as this can be checked without writing it.
    pub(crate) fn check_writable(&self, eval_id: &str) -> Result<(), String> {
        let file = models_file(eval_id);
        let of_folder =
            [&*file, SHARED_MODELS].map(|name| (self.path.join(name), format!("{}/{name}", self.shown)));
        // A folder that is not there yet is made beside the set.
        let of_parent = [(self.path.clone(), self.shown.clone())];
        let files = if self.exists() { &of_folder[..] } else { &of_parent[..] };
        for (path, shown) in files {
            let taken = || io::Error::other("a folder is in its place");
            let checked = if path.is_dir() { Err(taken()) } else { check_replaceable(path) };
            checked.map_err(|error| format!("cannot write `{shown}`: {error}; no model was asked"))?;
        }
        Ok(())
    }

    /// Writes the recording of a case, whole, and what it shares with others. It may wait for the disk and for another
    /// process.
    pub fn write(&self, recording: &CaseRecording) -> Result<(), String> {
        self.change(&recording.eval_id, |_| Ok(recording.clone())).map(drop)
    }

    /// Writes what `change` makes of the recording of a case on the disk, while no other writer changes it. Returns the
    /// recording. A case without calls has no file. It may wait for the disk and for another process.
    pub(crate) fn change(
        &self,
        eval_id: &str,
        change: impl FnOnce(Result<CaseRecording, String>) -> Result<CaseRecording, String>,
    ) -> Result<CaseRecording, String> {
        let failed = |error: &dyn std::fmt::Display| format!("cannot write `{}`: {error}", self.shown);
        if let Some(parent) = self.path.parent() {
            fs::create_dir_all(parent).map_err(|error| failed(&error))?;
        }
        let _lock = self.lock().map_err(|error| failed(&error))?;
        let is_new = !self.exists();
        fs::create_dir_all(&self.path).map_err(|error| failed(&error))?;
        let changed = self.change_locked(eval_id, change);
        if is_new {
            // It stays if there is a file in it.
            drop(fs::remove_dir(&self.path));
        }
        changed
    }

    /// Keeps other writers out of the folder. The lock is on the folder above: this one comes and goes, and a lock on a folder
    /// that was removed would keep none out of the next one.
    fn lock(&self) -> Result<FolderLock, FolderLockError> {
        FolderLock::beside(&self.path)
    }

    fn change_locked(
        &self,
        eval_id: &str,
        change: impl FnOnce(Result<CaseRecording, String>) -> Result<CaseRecording, String>,
    ) -> Result<CaseRecording, String> {
        let name = models_file(eval_id);
        let failed = |error: &dyn std::fmt::Display| format!("cannot write `{}/{name}`: {error}", self.shown);
        let path = self.path.join(&name);
        let mut recording = change(self.load_now(eval_id).map(|loaded| loaded.recording))?;
        recording.sort();
        let mut own = Shared::default();
        let text = recording.to_json(&mut own);
        if text.len() > MAX_RECORDING_BYTES {
            return Err(too_large(&recording, text.len(), &self.shown_file(eval_id)));
        }
        secrets::refuse(&recording, secret_variables().chain(secrets::sent_keys()))?;
        let old = self.read_text(&name)?;
        if recording.exchanges.is_empty() {
            return self.forget(&path, &name, old.as_deref()).map(|()| recording);
        }
        let names: BTreeSet<String> = own.names().map(str::to_owned).collect();
        let before = self.shared()?;
        let mut shared = before.clone();
        shared.merge(own);
        let replace_shared = |shared: &Shared| {
            replace(&self.path.join(SHARED_MODELS), shared.to_json()).map_err(|error| failed(&error))
        };
        // If the process is killed in between, the old file of the case is as whole as the new one.
        if shared != before || !self.path.join(SHARED_MODELS).exists() {
            replace_shared(&shared)?;
        }
        if old.as_deref() == Some(&*text) {
            return Ok(recording);
        }
        replace(&path, text).map_err(|error| failed(&error))?;
        let union = shared.clone();
        self.drop_left(&mut shared, &names, old.as_deref(), &name)?;
        if shared != union {
            replace_shared(&shared)?;
        }
        if let Some(touched) = self.touched.as_ref().filter(|_| old.is_none()) {
            // If that is not allowed, the tests report that they are stale.
            let file = fs::OpenOptions::new().append(true).open(touched);
            drop(file.and_then(|file| file.set_modified(std::time::SystemTime::now())));
        }
        Ok(recording)
    }

    /// Removes the file of a case, and what it alone shared.
    fn forget(&self, path: &Path, name: &str, old: Option<&str>) -> Result<(), String> {
        if old.is_none() {
            return Ok(());
        }
        let failed = |error: io::Error| format!("cannot remove `{}/{name}`: {error}", self.shown);
        fs::remove_file(path).map_err(failed)?;
        let before = self.shared()?;
        let mut shared = before.clone();
        self.drop_left(&mut shared, &BTreeSet::new(), old, name)?;
        if shared == before {
            return Ok(());
        }
        replace(&self.path.join(SHARED_MODELS), shared.to_json()).map_err(failed)
    }

    /// Removes shared parts that the old text of a case named, that its new text does not name, and no other case.
    fn drop_left(
        &self,
        shared: &mut Shared,
        kept: &BTreeSet<String>,
        old: Option<&str>,
        name: &str,
    ) -> Result<(), String> {
        let Some(old) = old else { return Ok(()) };
        let all: Vec<String> = shared.names().map(str::to_owned).collect();
        let mut left: Vec<String> =
            all.into_iter().filter(|part| !kept.contains(part) && old.contains(&**part)).collect();
        left.retain(|part| !shared.is_named_by_hand(part));
        if left.is_empty() {
            return Ok(());
        }
        let others = self.files().map_err(|error| format!("cannot list `{}`: {error}", self.shown))?;
        for other in others.iter().filter(|other| *other != name) {
            let text = self.read_text(other)?.unwrap_or_default();
            left.retain(|part| !text.contains(&**part));
            if left.is_empty() {
                break;
            }
        }
        for part in left {
            shared.remove(&part);
        }
        Ok(())
    }

    /// Removes the files of cases that are not `known`, and shared parts that no case names. Returns the names.
    pub fn prune(&self, known: &[&str]) -> Result<Vec<String>, String> {
        let failed = |error: &dyn std::fmt::Display| format!("cannot prune `{}`: {error}", self.shown);
        let kept: BTreeSet<String> = known.iter().map(|eval_id| models_file(eval_id)).collect();
        let _lock = self.lock().map_err(|error| failed(&error))?;
        let mut removed = Vec::new();
        let mut shared = self.shared()?;
        let by_hand = |name: &str| (name.to_owned(), shared.is_named_by_hand(name));
        let mut named: BTreeMap<String, bool> = shared.names().map(by_hand).collect();
        for file in self.files().map_err(|error| failed(&error))? {
            if !kept.contains(&file) {
                fs::remove_file(self.path.join(&file)).map_err(|error| failed(&error))?;
                removed.push(file);
                continue;
            }
            let text = self.read_text(&file)?.unwrap_or_default();
            for (name, is_named) in &mut named {
                *is_named |= text.contains(name.as_str());
            }
        }
        let left: Vec<String> =
            named.into_iter().filter(|(_, is_named)| !is_named).map(|(name, _)| name).collect();
        if !left.is_empty() {
            for name in &left {
                shared.remove(name);
            }
            replace(&self.path.join(SHARED_MODELS), shared.to_json()).map_err(|error| failed(&error))?;
            removed.extend(left.into_iter().map(|name| format!("{SHARED_MODELS}: {name}")));
        }
        if shared.is_empty() && self.files().is_ok_and(|files| files.is_empty()) {
            // Something else may be in the folder.
            drop(fs::remove_file(self.path.join(SHARED_MODELS)));
            drop(fs::remove_dir(&self.path));
        }
        Ok(removed)
    }
}

fn parse_shared(text: Option<&str>, shown: &str) -> Result<Shared, String> {
    let shared = text.map(Shared::parse).transpose();
    shared.map(Option::unwrap_or_default).map_err(|why| format!("`{shown}/{SHARED_MODELS}`: {why}"))
}

fn load(
    eval_id: &str,
    shared: Option<&str>,
    case: Option<&str>,
    shown: &str,
    shown_file: &str,
) -> Result<Loaded, String> {
    let shared = parse_shared(shared, shown)?;
    let by_hand = by_hand(&shared).map_err(|why| format!("`{shown}/{SHARED_MODELS}`: {why}"))?;
    let recording = match case {
        None => CaseRecording::new(eval_id),
        Some(text) => CaseRecording::parse(text, &shared).map_err(|why| format!("`{shown_file}`: {why}"))?,
    };
    if recording.eval_id != eval_id {
        return Err(format!("`{shown_file}` is of the case `{}`, and not of `{eval_id}`", recording.eval_id));
    }
    Ok(Loaded { recording, shared, by_hand, exists: case.is_some() })
}

fn too_large(recording: &CaseRecording, length: usize, shown: &str) -> String {
    let sizes = recording.exchanges.iter().flat_map(|exchange| {
        let parts = &exchange.parts;
        let messages = parts.messages.iter().map(|message| ("message", message.to_string().len()));
        let answers = exchange.answers.iter().map(|answer| ("answer", answer.size()));
        messages.chain(answers).map(|(kind, size)| (kind, size, exchange.turn))
    });
    let largest = sizes.max_by_key(|(_, size, _)| *size);
    let largest = largest
        .map(|(kind, size, turn)| format!("; its largest {kind} is of turn {turn} and has {size} bytes"));
    format!(
        "cannot write `{shown}`: it would have {length} bytes, and the limit is {MAX_RECORDING_BYTES}{}",
        largest.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests;
