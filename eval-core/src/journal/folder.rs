//! Folders of runs: made, joined, and removed when there are too many.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use super::runs::{LATEST, MARKER, marker, runs};
use super::time;
use crate::file_lock::FileLock;

/// A run that this process writes in. No process removes it while this value lives.
#[derive(Debug)]
pub(super) struct Joined {
    /// The folder.
    pub(super) path: PathBuf,
    /// `None` if the system has no locks.
    pub(super) lock: Option<FileLock>,
}

/// Creates the folder of a run, or joins the existing one.
///
/// A process that creates one removes the oldest runs: `kept` runs stay, and those that a process writes in. Several
/// processes may do this at once.
pub(super) fn open(folder: &Path, id: &str, kept: usize) -> io::Result<Joined> {
    let mut opened = try_open(folder, id, kept);
    for attempt in 1..=10 {
        match &opened {
            Err(error) if is_in_the_way(error) => {
                thread::sleep(Duration::from_millis(attempt));
                opened = try_open(folder, id, kept);
            }
            _ => break,
        }
    }
    opened
}

/// Whether the cause may be another process that is done in a moment: it removed the folder after this process found it,
/// or, on Windows, it is replacing or removing a file.
fn is_in_the_way(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::NotFound => true,
        io::ErrorKind::PermissionDenied => cfg!(windows),
        _ => false,
    }
}

fn try_open(folder: &Path, id: &str, kept: usize) -> io::Result<Joined> {
    fs::create_dir_all(folder)?;
    let path = folder.join(id);
    let is_new = match fs::create_dir(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        made => made.map(|()| true)?,
    };
    mark(&path, id)?;
    let lock = hold(&path)?;
    if fs::read_to_string(folder.join(LATEST)).ok().as_deref() != Some(id) {
        name_latest(folder, id)?;
    }
    if is_new {
        prune(folder, id, kept);
    }
    Ok(Joined { path, lock })
}

/// Marks a folder as a run, unless another process has done so.
fn mark(path: &Path, id: &str) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).open(path.join(MARKER)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        file => file?.write_all(&marker(id, time::now())),
    }
}

/// Locks the marker of a run, together with all other processes that write in the run.
fn hold(path: &Path) -> io::Result<Option<FileLock>> {
    let path = path.join(MARKER);
    let marker = File::open(&path)?;
    // A process that removes the run holds an exclusive lock until it is done.
    let Ok(lock) = FileLock::shared(marker) else { return Ok(None) };
    if is_same(&lock.file().metadata()?, &fs::metadata(&path)?) {
        return Ok(Some(lock));
    }
    Err(io::ErrorKind::NotFound.into())
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Two files are different if they were written at different times.
#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.modified().ok() == other.modified().ok()
}

/// Replaces the file that names the latest run. A reader sees the old file or the new one, both complete.
fn name_latest(folder: &Path, id: &str) -> io::Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let draft = folder.join(format!(".{LATEST}.{}.{number}", std::process::id()));
    fs::write(&draft, id)?;
    fs::rename(draft, folder.join(LATEST))
}

/// Removes the oldest runs. A run that cannot be removed stays: another process may be removing it, or writing in it.
fn prune(folder: &Path, own: &str, kept: usize) {
    let runs = runs(folder).unwrap_or_default();
    let old = runs.into_iter().filter(|run| run.id != own).skip(kept.saturating_sub(1));
    for run in old {
        let _ = remove(&run.path);
    }
}

/// Removes a run that no process writes in. The marker goes last: if this process is killed before that, the rest is still
/// a run.
fn remove(path: &Path) -> io::Result<()> {
    // Some systems only lock files that are open for writing.
    let marker = OpenOptions::new().read(true).write(true).open(path.join(MARKER))?;
    let lock = FileLock::try_exclusive(marker);
    if let Ok(None) = lock {
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() == MARKER {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_file(path.join(MARKER))?;
    fs::remove_dir(path)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::runs::latest;
    use super::*;

    fn ids(folder: &Path) -> Vec<String> {
        let mut ids: Vec<String> = runs(folder).unwrap().into_iter().map(|run| run.id).collect();
        ids.sort_unstable();
        ids
    }

    /// Makes a run look as if it had begun so many hours ago.
    fn age(run: &Path, hours: u64) {
        let started = time::now() - Duration::from_hours(hours);
        fs::write(run.join(MARKER), marker("any", started)).unwrap();
    }

    #[test]
    fn the_oldest_runs_are_removed_and_nothing_else() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        for (hours, id) in [(3, "a"), (1, "b"), (2, "c")] {
            let run = open(folder, id, 9).unwrap().path;
            fs::write(run.join("x.jsonl"), "{}").unwrap();
            fs::create_dir(run.join("report")).unwrap();
            age(&run, hours);
        }
        fs::create_dir(folder.join("judge-slots")).unwrap();
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        open(folder, "d", 3).unwrap();
        assert_eq!(ids(folder), ["b", "c", "d"], "`a` is the oldest");
        open(folder, "d", 1).unwrap();
        assert_eq!(ids(folder), ["b", "c", "d"], "whoever joins a run removes none");
        open(folder, "e", 1).unwrap();
        assert_eq!(ids(folder), ["e"]);
        assert!(folder.join("judge-slots").is_dir() && folder.join("notes.txt").is_file());
    }

    #[test]
    fn a_run_that_somebody_writes_in_is_not_removed() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        let writers = [open(folder, "a", 9).unwrap(), open(folder, "a", 9).unwrap()];
        age(&writers[0].path, 100);
        let [first, second] = writers;
        for (id, expected) in [("b", vec!["a", "b"]), ("c", vec!["a", "c"])] {
            open(folder, id, 1).unwrap();
            assert_eq!(ids(folder), expected);
        }
        drop(first);
        open(folder, "d", 1).unwrap();
        assert_eq!(ids(folder), ["a", "d"], "another still writes");
        drop(second);
        open(folder, "e", 1).unwrap();
        assert_eq!(ids(folder), ["e"]);
    }

    #[test]
    fn processes_that_open_and_prune_at_once_do_not_disturb_each_other() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        thread::scope(|scope| {
            for thread in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    for n in 0..20 {
                        let shared = open(folder, &format!("shared-{n}"), 3).unwrap();
                        assert_eq!(shared.path, folder.join(format!("shared-{n}")));
                        assert!(shared.path.join(MARKER).is_file(), "it stays while it is in use");
                        open(folder, &format!("own-{thread}-{n}"), 3).unwrap();
                    }
                });
            }
        });
        assert!(latest(folder).is_some());
    }

    #[test]
    fn the_latest_run_is_the_one_that_was_joined_last() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        assert_eq!(latest(folder), None);
        for id in ["a", "b", "a"] {
            open(folder, id, 9).unwrap();
            assert_eq!(latest(folder).unwrap().id, id);
        }
        fs::write(folder.join(LATEST), "../../etc").unwrap();
        assert_eq!(latest(folder), None);
    }

    #[test]
    fn a_torn_mark_is_a_mark() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        let run = open(folder, "a", 9).unwrap().path;
        fs::write(run.join(MARKER), "{\"run").unwrap();
        assert_eq!(ids(folder), ["a"]);
    }
}
