//! Folders of runs: made, joined, and removed when there are too many.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use eval_support::lock::FileLock;

use super::file_names::{LATEST, MARKER};
use super::revision::Revision;
use super::runs::{Owner, RunDir, latest_id, marker, owners, runs};
use super::time;

/// A run that this process writes in. No process removes it while this value lives.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) path: PathBuf,
    /// `None` if the system has no locks.
    pub(super) lock: Option<FileLock>,
}

/// Creates the folder of a run, or joins the existing one. Several processes may do this at once.
///
/// Links in place of the folder or of its files are not followed: another user may have put them there.
pub(super) fn open(folder: &Path, id: &str) -> io::Result<Joined> {
    for attempt in 1..=10 {
        match try_open(folder, id) {
            Err(error) if is_in_the_way(&error) => thread::sleep(Duration::from_millis(attempt)),
            opened => return opened,
        }
    }
    try_open(folder, id)
}

/// Whether a retry may help: another process removed the folder after this process found it, or, on Windows,
/// it is replacing or removing a file.
fn is_in_the_way(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::NotFound => true,
        io::ErrorKind::PermissionDenied => cfg!(windows),
        _ => false,
    }
}

fn try_open(folder: &Path, id: &str) -> io::Result<Joined> {
    fs::create_dir_all(folder)?;
    let path = folder.join(id);
    match fs::create_dir(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !fs::symlink_metadata(&path)?.is_dir() {
                return Err(in_place_of(&path, "a folder"));
            }
        }
        made => made?,
    }
    mark(&path, id)?;
    let lock = hold(&path)?;
    if latest_id(folder).as_deref() != Some(id) {
        name_latest(folder, id)?;
    }
    Ok(Joined { path, lock })
}

/// Marks a folder as a run, unless another process has done so.
fn mark(path: &Path, id: &str) -> io::Result<()> {
    let path = path.join(MARKER);
    match create_private(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let is_file = fs::symlink_metadata(&path)?.is_file();
            if is_file { Ok(()) } else { Err(in_place_of(&path, "a file")) }
        }
        // Only the process that creates the run reads the files of git.
        file => {
            let here = std::env::current_dir().ok();
            let revision = here.as_deref().and_then(Revision::from_folder);
            file?.write_all(marker(id, time::now(), revision.as_ref()).as_bytes())
        }
    }
}

/// Creates a file that only this user may read, since texts of agents and judges may be confidential. Fails
/// if the name is taken, even by a link.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

fn in_place_of(path: &Path, what: &str) -> io::Error {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    io::Error::other(format!("`{}` is there, and is not {what}", eval_support::untrusted::name(&name)))
}

/// Takes a shared lock on the marker of a run: no process removes the run while one holds it. All processes that write in the
/// run do. `None` if the file system has no locks.
#[doc(hidden)]
pub fn hold(path: &Path) -> io::Result<Option<FileLock>> {
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

#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.modified().ok() == other.modified().ok()
}

/// Replaces the file that names the latest run. A reader sees the old file or the new one, both complete.
fn name_latest(folder: &Path, id: &str) -> io::Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let draft = folder.join(format!("{TEMPORARY_PREFIX}{}.{number}", std::process::id()));
    let mut file = match create_private(&draft) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // A killed process with the same id left the file, or another user put a link there. Only the
            // link is removed, not its target.
            fs::remove_file(&draft)?;
            create_private(&draft)?
        }
        file => file?,
    };
    file.write_all(id.as_bytes())?;
    drop(file);
    fs::rename(draft, folder.join(LATEST))
}

const TEMPORARY_PREFIX: &str = ".latest.";

/// Keeps the newest `kept` runs of each package and removes older ones: at most [`MAX_REMOVED_RUNS`], so that it takes
/// little time. Projects may share a folder, so a run is removed only if it is surplus for every package in
/// it. A run that cannot be removed stays: a process may be writing in it. Temporary files of killed
/// processes are removed too.
pub(super) fn prune(folder: &Path, kept: usize) -> io::Result<usize> {
    let mut removed = 0;
    let latest = latest_id(folder);
    let runs = runs(folder)?;
    let old = if runs.len() > kept { surplus(&runs, kept) } else { Vec::new() };
    let old = old.into_iter().rev().filter(|run| Some(&run.id) != latest.as_ref());
    for run in old.take(MAX_REMOVED_RUNS) {
        removed += usize::from(remove(&run.path).is_ok_and(|removed| removed));
    }
    remove_temporary_files(folder);
    Ok(removed)
}

fn surplus(newest_first: &[RunDir], kept: usize) -> Vec<&RunDir> {
    let mut counts: BTreeMap<Owner, usize> = BTreeMap::new();
    let mut is_surplus = |run: &&RunDir| {
        let mut owners: BTreeSet<Owner> = owners(&run.path).into_iter().map(lasting).collect();
        if owners.is_empty() {
            owners.insert(Owner::default());
        }
        let kept_for = owners.into_iter().filter(|owner| {
            let count = counts.entry(owner.clone()).or_default();
            *count += 1;
            *count <= kept
        });
        kept_for.count() == 0
    };
    newest_first.iter().filter(|run| is_surplus(run)).collect()
}

/// The owner, without its workspace if that folder is gone. The deleted checkouts of a package share one
/// number of kept runs.
fn lasting(owner: Owner) -> Owner {
    Owner { workspace: owner.workspace.filter(|folder| folder.exists()), ..owner }
}

const MAX_REMOVED_RUNS: usize = 20;

fn remove_temporary_files(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_draft = entry.file_name().to_str().is_some_and(|name| name.starts_with(TEMPORARY_PREFIX));
        let written = || entry.metadata().and_then(|found| found.modified()).ok();
        if is_draft
            && written().and_then(|at| at.elapsed().ok()).is_some_and(|age| age > Duration::from_mins(1))
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes a run, unless a process writes in it. The marker goes last: if this process is killed before that, the rest
/// is still a run.
fn remove(path: &Path) -> io::Result<bool> {
    // Some systems only lock files that are open for writing.
    let marker = OpenOptions::new().read(true).write(true).open(path.join(MARKER))?;
    let lock = FileLock::try_exclusive(marker);
    if let Ok(None) = lock {
        return Ok(false);
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
    fs::remove_dir(path)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn latest(folder: &Path) -> Option<RunDir> {
        let id = latest_id(folder)?;
        runs(folder).unwrap().into_iter().find(|run| run.id == id)
    }

    fn ids(folder: &Path) -> Vec<String> {
        let mut ids: Vec<String> = runs(folder).unwrap().into_iter().map(|run| run.id).collect();
        ids.sort_unstable();
        ids
    }

    /// Makes a run look as if it had begun this number of hours ago.
    fn age(run: &Path, hours: u64) {
        let started = time::now() - Duration::from_hours(hours);
        fs::write(run.join(MARKER), marker("any", started, None)).unwrap();
    }

    /// A folder that cannot be made is tried once: waiting for it would hold up the first test of each process.
    #[test]
    fn only_what_another_process_may_be_doing_is_waited_for() {
        for (kind, waits) in [
            (io::ErrorKind::NotFound, true),
            (io::ErrorKind::PermissionDenied, cfg!(windows)),
            (io::ErrorKind::ReadOnlyFilesystem, false),
            (io::ErrorKind::NotADirectory, false),
        ] {
            assert_eq!(is_in_the_way(&kind.into()), waits, "{kind:?}");
        }
    }

    #[test]
    fn the_oldest_runs_are_removed_and_nothing_else() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        for (hours, id) in [(3, "a"), (1, "b"), (2, "c")] {
            let run = open(folder, id).unwrap().path;
            fs::write(run.join("x.jsonl"), "{}").unwrap();
            fs::create_dir(run.join("report")).unwrap();
            age(&run, hours);
        }
        fs::create_dir(folder.join("judge-slots")).unwrap();
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        open(folder, "d").unwrap();
        assert_eq!(ids(folder), ["a", "b", "c", "d"], "whoever writes a run removes none");
        assert_eq!(prune(folder, 3).unwrap(), 1);
        assert_eq!(ids(folder), ["b", "c", "d"], "`a` is the oldest");
        assert_eq!(prune(folder, 1).unwrap(), 2);
        assert_eq!(ids(folder), ["d"]);
        assert!(folder.join("judge-slots").is_dir() && folder.join("notes.txt").is_file());
    }

    #[test]
    fn a_run_stays_while_it_is_one_of_the_newest_of_a_package_in_it() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path().join("runs");
        let folders = ["shop", "fresh"].map(|name| temporary.path().join(name));
        for folder in &folders {
            fs::create_dir(folder).unwrap();
        }
        let [shop, fresh] = folders.map(|folder| folder.display().to_string());
        let gone = temporary.path().join("gone").display().to_string();
        let write = |hours: u64, id: &str, owners: &[(&str, &str)]| {
            let run = open(&folder, id).unwrap().path;
            for (workspace, package) in owners {
                let head =
                    format!("{{\"record\":\"head\",\"workspace\":{workspace:?},\"package\":{package:?}}}\n");
                fs::write(run.join(format!("{package}-evals-1-{hours}.jsonl")), head).unwrap();
            }
            age(&run, hours);
        };
        write(9, "fresh", &[(&fresh, "app")]);
        write(8, "both", &[(&shop, "a"), (&shop, "b")]);
        for (hours, id) in [(7, "a1"), (6, "a2"), (5, "a3")] {
            write(hours, id, &[(&shop, "a")]);
        }
        for (hours, id) in [(4, "gone1"), (3, "gone2")] {
            write(hours, id, &[(&format!("{gone}{hours}"), "app")]);
        }
        write(1, "last", &[(&shop, "c")]);
        prune(&folder, 1).unwrap();
        assert_eq!(ids(&folder), ["a3", "both", "fresh", "gone2", "last"], "`both` is the last one of `b`");
        write(0, "b1", &[(&shop, "b")]);
        prune(&folder, 1).unwrap();
        assert_eq!(ids(&folder), ["a3", "b1", "fresh", "gone2", "last"]);
    }

    #[test]
    fn a_few_runs_are_removed_at_once_and_the_latest_never() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        for number in 0..MAX_REMOVED_RUNS as u64 + 5 {
            age(&open(folder, &format!("run-{number:02}")).unwrap().path, 100 - number);
        }
        open(folder, "run-00").unwrap();
        assert_eq!(
            prune(folder, 1).unwrap(),
            MAX_REMOVED_RUNS,
            "the oldest after `run-00`, which is the latest"
        );
        assert_eq!(prune(folder, 1).unwrap(), 3);
        assert_eq!(ids(folder), ["run-00", "run-24"]);
    }

    #[test]
    fn a_run_that_somebody_writes_in_is_not_removed() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        let writers = [open(folder, "a").unwrap(), open(folder, "a").unwrap()];
        age(&writers[0].path, 100);
        let [first, second] = writers;
        for (id, expected) in [("b", vec!["a", "b"]), ("c", vec!["a", "c"])] {
            age(&open(folder, id).unwrap().path, 1);
            prune(folder, 0).unwrap();
            assert_eq!(ids(folder), expected);
        }
        drop(first);
        open(folder, "d").unwrap();
        prune(folder, 0).unwrap();
        assert_eq!(ids(folder), ["a", "d"], "another still writes");
        drop(second);
        open(folder, "e").unwrap();
        prune(folder, 0).unwrap();
        assert_eq!(ids(folder), ["e"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_that_others_planted_are_not_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let temporary = TempDir::new().unwrap();
        let (folder, elsewhere) = (temporary.path().join("runs"), temporary.path().join("elsewhere"));
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("theirs"), "theirs").unwrap();
        symlink(&elsewhere, folder.join("planted")).unwrap();
        let error = open(&folder, "planted").unwrap_err().to_string();
        assert_eq!(error, "`planted` is there, and is not a folder");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1, "nothing was written there");

        fs::create_dir(folder.join("marked")).unwrap();
        symlink(elsewhere.join("theirs"), folder.join("marked").join(MARKER)).unwrap();
        assert_eq!(
            open(&folder, "marked").unwrap_err().to_string(),
            "`run.json` is there, and is not a file"
        );

        for number in 0..50 {
            let draft = folder.join(format!("{TEMPORARY_PREFIX}{}.{number}", std::process::id()));
            symlink(elsewhere.join("theirs"), draft).unwrap();
        }
        symlink(elsewhere.join("theirs"), folder.join(LATEST)).unwrap();
        let run = open(&folder, "a").unwrap().path;
        assert_eq!(fs::read_to_string(elsewhere.join("theirs")).unwrap(), "theirs");
        assert_eq!(latest(&folder).unwrap().id, "a");
        let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(&run.join(MARKER)), mode(&folder.join(LATEST))], [0o600; 2]);
        fs::remove_file(folder.join(LATEST)).unwrap();
        symlink("/dev/zero", folder.join(LATEST)).unwrap();
        assert_eq!(latest(&folder), None, "it is not read");
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
                        let shared = open(folder, &format!("shared-{n}")).unwrap();
                        prune(folder, 3).unwrap();
                        assert_eq!(shared.path, folder.join(format!("shared-{n}")));
                        assert!(shared.path.join(MARKER).is_file(), "it stays while it is in use");
                        open(folder, &format!("own-{thread}-{n}")).unwrap();
                        prune(folder, 3).unwrap();
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
            open(folder, id).unwrap();
            assert_eq!(latest(folder).unwrap().id, id);
        }
        fs::write(folder.join(LATEST), "../../etc").unwrap();
        assert_eq!(latest(folder), None);
    }

    #[test]
    fn a_torn_mark_is_a_mark() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        let run = open(folder, "a").unwrap().path;
        fs::write(run.join(MARKER), "{\"run").unwrap();
        assert_eq!(ids(folder), ["a"]);
    }

    #[test]
    fn drafts_that_killed_processes_left_are_removed() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        let (old, new, other) =
            (folder.join(".latest.1.0"), folder.join(".latest.2.0"), folder.join("notes.txt"));
        for (path, seconds) in [(&old, 61), (&new, 30), (&other, 3600)] {
            let written = std::time::SystemTime::now() - Duration::from_secs(seconds);
            File::create(path).unwrap().set_modified(written).unwrap();
        }
        prune(folder, 1).unwrap();
        assert_eq!([&old, &new, &other].map(|path| path.exists()), [false, true, true]);
    }

    /// A process that removes a run locks it exclusively. A process that joins it waits, and then finds another folder
    /// or none.
    #[test]
    fn a_run_that_is_removed_while_a_process_joins_it_is_made_again() {
        for is_there_again in [false, true] {
            let temporary = TempDir::new().unwrap();
            let folder = temporary.path();
            let run = open(folder, "a").unwrap().path;
            let marker = OpenOptions::new().read(true).write(true).open(run.join(MARKER)).unwrap();
            let Ok(Some(lock)) = FileLock::try_exclusive(marker) else { return };
            let joined = thread::scope(|scope| {
                let joins = scope.spawn(|| open(folder, "a"));
                thread::sleep(Duration::from_millis(100));
                fs::remove_dir_all(&run).unwrap();
                if is_there_again {
                    fs::create_dir(&run).unwrap();
                    mark(&run, "a").unwrap();
                }
                drop(lock);
                joins.join().unwrap()
            });
            let joined = joined.unwrap();
            assert!(joined.path.join(MARKER).is_file());
            assert!(!remove(&joined.path).unwrap(), "it is held by who joined it");
        }
    }
}
