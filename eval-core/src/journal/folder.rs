//! Where runs stand: a folder for each, below `target/evalset`.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use eval_format::Value;

use super::json::{Json, fields};
use super::line::Line;
use super::time;

/// The file that says that a folder is a run. Only folders that hold it are ever removed.
const MARKER: &str = "run.json";
/// The file that names the run that was last written to.
const LATEST: &str = "latest";

/// The folder of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunDir {
    /// The id of the run: the name of the folder.
    pub id: String,
    /// The folder.
    pub path: PathBuf,
    /// When it began.
    pub started: SystemTime,
}

/// The runs of a folder such as `target/evalset`, the newest first.
///
/// ```
/// let folder = std::env::temp_dir().join("evalset-no-runs-here");
/// assert_eq!(eval_core::journal::runs(&folder)?, []);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// A folder that is not there holds none. Folders that are no runs are passed over.
pub fn runs(folder: &Path) -> io::Result<Vec<RunDir>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut runs = Vec::new();
    for entry in entries {
        // Whoever prunes may be faster.
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Some(run) = run(&entry.path())
        {
            runs.push(run);
        }
    }
    runs.sort_by(|a, b| (b.started, &b.id).cmp(&(a.started, &a.id)));
    Ok(runs)
}

/// The run of a folder such as `target/evalset` that was last written to.
pub fn latest(folder: &Path) -> Option<RunDir> {
    let id = fs::read_to_string(folder.join(LATEST)).ok()?;
    let id = id.trim();
    is_id(id).then(|| run(&folder.join(id))).flatten()
}

/// Whether this can be the name of a run: a plain name of a folder on any system, and not that of our own file
/// beside the runs.
pub(super) fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=LONGEST_ID).contains(&id.len())
        && !id.starts_with('.')
        && !id.ends_with('.')
        && id.bytes().all(is_plain)
        && !id.eq_ignore_ascii_case(LATEST)
}

/// The most characters that the name of a run may have.
pub(super) const LONGEST_ID: usize = 100;

/// A run that this process writes in. Nobody removes it while this value lives.
#[derive(Debug)]
pub(super) struct Joined {
    /// The folder.
    pub(super) path: PathBuf,
    /// None where the system has no locks.
    pub(super) lock: Option<File>,
}

/// Makes the folder of a run, or joins the one that is there.
///
/// Whoever makes a new one removes the oldest, so that `kept` are left and those that somebody writes in. Several
/// processes may do so at once.
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

/// Whether it may be another process that is done in a moment: one that removed the folder after it was found, or
/// that on Windows replaces or removes a file just now.
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

/// Says that a folder is a run; whoever comes first.
fn mark(path: &Path, id: &str) -> io::Result<()> {
    let mut text = Line::new();
    Marker { run: id.to_owned(), started: time::now() }.write(&mut text);
    match OpenOptions::new().write(true).create_new(true).open(path.join(MARKER)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        file => file?.write_all(&text.into_bytes()),
    }
}

/// Locks the mark of a run, together with all others that write in it. The system frees the locks of a process,
/// however it ends.
fn hold(path: &Path) -> io::Result<Option<File>> {
    let path = path.join(MARKER);
    let mark = File::open(&path)?;
    // Whoever removes the run now has locked its mark for themselves, for as long as that takes.
    while let Err(error) = mark.lock_shared() {
        // A signal says nothing about locks.
        if error.kind() != io::ErrorKind::Interrupted {
            return Ok(None);
        }
    }
    if is_same(&mark.metadata()?, &fs::metadata(&path)?) {
        return Ok(Some(mark));
    }
    Err(io::ErrorKind::NotFound.into())
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Files that were written at different times are different files.
#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.modified().ok() == other.modified().ok()
}

/// Puts a whole file in the place of the old one: whoever reads sees the one or the other.
fn name_latest(folder: &Path, id: &str) -> io::Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let draft = folder.join(format!(".{LATEST}.{}.{number}", std::process::id()));
    fs::write(&draft, id)?;
    fs::rename(draft, folder.join(LATEST))
}

/// Removes the oldest runs. Those that cannot be removed, that another process removes now or writes in, are left to
/// it.
fn prune(folder: &Path, own: &str, kept: usize) {
    let runs = runs(folder).unwrap_or_default();
    let old = runs.into_iter().filter(|run| run.id != own).skip(kept.saturating_sub(1));
    for run in old {
        let _ = remove(&run.path);
    }
}

/// Removes a run in which nobody writes, its mark last: what is left by a process that is killed meanwhile is still a
/// run.
fn remove(path: &Path) -> io::Result<()> {
    // Some systems lock only what may be written.
    let mark = OpenOptions::new().read(true).write(true).open(path.join(MARKER))?;
    if let Err(TryLockError::WouldBlock) = mark.try_lock() {
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

fn run(path: &Path) -> Option<RunDir> {
    let marker = fs::read_to_string(path.join(MARKER)).ok()?;
    // One that is being written, or was torn, is as old as its file.
    let begun =
        Value::parse(&marker).ok().and_then(|value| Marker::read(value).ok()).map(|marker| marker.started);
    let written = || fs::metadata(path.join(MARKER)).and_then(|marker| marker.modified()).ok();
    Some(RunDir {
        id: path.file_name()?.to_str()?.to_owned(),
        path: path.to_owned(),
        started: begun.or_else(written)?,
    })
}

/// What the marker says.
struct Marker {
    run: String,
    started: SystemTime,
}

fields!(Marker { run, started });

#[cfg(test)]
mod tests {

    use super::super::tests::Folder;
    use super::*;

    fn ids(folder: &Path) -> Vec<String> {
        let mut ids: Vec<String> = runs(folder).unwrap().into_iter().map(|run| run.id).collect();
        ids.sort_unstable();
        ids
    }

    /// Makes a run look as if it had begun so many hours ago.
    fn age(run: &Path, hours: u64) {
        let mut text = Line::new();
        let started = time::now() - Duration::from_hours(hours);
        Marker { run: "any".to_owned(), started }.write(&mut text);
        fs::write(run.join(MARKER), text.into_bytes()).unwrap();
    }

    #[test]
    fn the_oldest_runs_are_removed_and_nothing_else() {
        let folder = Folder::new("prune");
        for (hours, id) in [(3, "a"), (1, "b"), (2, "c")] {
            let run = open(&folder, id, 9).unwrap().path;
            fs::write(run.join("x.jsonl"), "{}").unwrap();
            fs::create_dir(run.join("report")).unwrap();
            age(&run, hours);
        }
        fs::create_dir(folder.join("judge-slots")).unwrap();
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        open(&folder, "d", 3).unwrap();
        assert_eq!(ids(&folder), ["b", "c", "d"], "`a` is the oldest");
        open(&folder, "d", 1).unwrap();
        assert_eq!(ids(&folder), ["b", "c", "d"], "whoever joins a run removes none");
        open(&folder, "e", 1).unwrap();
        assert_eq!(ids(&folder), ["e"]);
        assert!(folder.join("judge-slots").is_dir() && folder.join("notes.txt").is_file());
    }

    #[test]
    fn a_run_that_somebody_writes_in_is_not_removed() {
        let folder = Folder::new("written");
        let writers = [open(&folder, "a", 9).unwrap(), open(&folder, "a", 9).unwrap()];
        age(&writers[0].path, 100);
        let [first, second] = writers;
        for (id, expected) in [("b", vec!["a", "b"]), ("c", vec!["a", "c"])] {
            open(&folder, id, 1).unwrap();
            assert_eq!(ids(&folder), expected);
        }
        drop(first);
        open(&folder, "d", 1).unwrap();
        assert_eq!(ids(&folder), ["a", "d"], "another still writes");
        drop(second);
        open(&folder, "e", 1).unwrap();
        assert_eq!(ids(&folder), ["e"]);
    }

    #[test]
    fn processes_that_open_and_prune_at_once_do_not_disturb_each_other() {
        let folder = Folder::new("races");
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
        assert!(latest(&folder).is_some());
    }

    #[test]
    fn the_latest_run_is_the_one_that_was_joined_last() {
        let folder = Folder::new("latest");
        assert_eq!(latest(&folder), None);
        for id in ["a", "b", "a"] {
            open(&folder, id, 9).unwrap();
            assert_eq!(latest(&folder).unwrap().id, id);
        }
        fs::write(folder.join(LATEST), "../../etc").unwrap();
        assert_eq!(latest(&folder), None);
    }

    #[test]
    fn a_torn_mark_is_a_mark() {
        let folder = Folder::new("torn_mark");
        let run = open(&folder, "a", 9).unwrap().path;
        fs::write(run.join(MARKER), "{\"run").unwrap();
        assert_eq!(ids(&folder), ["a"]);
    }

    #[test]
    fn ids_are_plain_names() {
        for (id, plain) in [
            ("2026-11-22T02-31-07-1a2b3c4d", true),
            ("b64f1eef-a1b6-4f7e-8b4e-6f5d5d1c0d2e", true),
            ("pr.123_retry", true),
            ("", false),
            (".", false),
            ("..", false),
            (".hidden", false),
            ("dot.", false),
            ("a/b", false),
            ("a\\b", false),
            ("a b", false),
            ("\u{e9}", false),
            ("latest", false),
            ("Latest", false),
            ("latest-1", true),
        ] {
            assert_eq!(is_id(id), plain, "{id:?}");
        }
        assert!(is_id(&"x".repeat(LONGEST_ID)) && !is_id(&"x".repeat(LONGEST_ID + 1)));
    }
}
