//! The comparison of the files on disk with the files that were compiled in.
//!
//! Cargo decides by modification times, so a file that was swapped for an older one (by a checkout, or from a
//! restored cache) does not cause a rebuild. Each test compares the length of a file. It compares the content
//! of a small file always, and of a large file if a time says that it may have been swapped. A failing test
//! always compares the content.
//!
//! The swap of a large file of the same length is not noticed in three cases: a folder above the package, or
//! above the target of a link, was swapped; the swap took place while rustc ran; the test binary was copied
//! after the swap, so it is younger.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use eval_support::mutex::Mutex;

use crate::compiled::{FileSource, Replays, SetSource, Test};

/// Up to this many bytes the content of a file is always compared.
const MAX_ALWAYS_COMPARED_BYTES: u64 = 256 << 10;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// Nothing that was compared differs.
    Fresh,
    /// They differ. The sentence says how.
    Stale(String),
    /// They are not on this machine, so nothing was compared.
    Absent,
}

/// Whether this is the first call for this set: that its sources are absent is shown once in a process.
pub(crate) fn is_first_notice(set: &'static SetSource) -> bool {
    static SAID: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let mut said = SAID.lock();
    let set = std::ptr::from_ref(set).addr();
    let is_known = said.contains(&set);
    said.extend((!is_known).then_some(set));
    !is_known
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Depth {
    /// Before a test runs: its length, and its content if it is small or may have been swapped after the binary was
    /// built.
    AsTimesSay,
    /// After a failure: its content, whatever the times say.
    Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    Same,
    Differs,
    Gone,
}

/// Compares a file, once in a process.
fn compare(root: &Path, compiled: &FileSource, depth: Depth) -> Compared {
    /// The file, the address of the text in memory, and the depth.
    type Key = (PathBuf, usize, Depth);
    static COMPARED: Mutex<Option<HashMap<Key, Compared>>> = Mutex::new(None);
    let key = (root.join(compiled.file), compiled.text.as_ptr().addr(), depth);
    let mut known = COMPARED.lock();
    let known = known.get_or_insert_default();
    // The lock is held meanwhile: the other tests of the set wait for the same answer.
    *known.entry(key).or_insert_with(|| compare_now(root, compiled, depth, built()))
}

fn compare_now(root: &Path, compiled: &FileSource, depth: Depth, built: Option<SystemTime>) -> Compared {
    let path = root.join(compiled.file);
    let Ok(found) = fs::metadata(&path) else { return Compared::Gone };
    if found.len() != compiled.text.len() as u64 {
        return Compared::Differs;
    }
    let unread = depth == Depth::AsTimesSay
        && found.len() > MAX_ALWAYS_COMPARED_BYTES
        && built.is_some_and(|built| !is_newer(root, compiled.file, built));
    if unread {
        return Compared::Same;
    }
    match fs::read(&path) {
        Ok(text) if text == compiled.text.as_bytes() => Compared::Same,
        Ok(_) => Compared::Differs,
        Err(_) => Compared::Gone,
    }
}

fn built() -> Option<SystemTime> {
    static BUILT: OnceLock<Option<SystemTime>> = OnceLock::new();
    *BUILT.get_or_init(|| fs::metadata(std::env::current_exe().ok()?).ok()?.modified().ok())
}

/// Whether a file, or a link or folder on its path, changed since `built`. Folders above the package are
/// ignored: they change for many other reasons.
fn is_newer(root: &Path, file: &str, built: SystemTime) -> bool {
    let below = file.split('/').scan(root.to_owned(), |path, part| {
        path.push(part);
        Some(path.clone())
    });
    std::iter::once(root.to_owned()).chain(below).any(|path| {
        // A link has times of its own. Moving a file or a folder changes no times but its own.
        [fs::symlink_metadata(&path), fs::metadata(&path)].into_iter().any(|found| {
            found.ok().and_then(|found| last_change(&found)).is_none_or(|changed| changed >= built)
        })
    })
}

/// The last change: of the content, and on Unix of the inode too (`ctime`), which no tool can set back.
fn last_change(found: &Metadata) -> Option<SystemTime> {
    let modified = found.modified().ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let seconds = u64::try_from(found.ctime()).ok()?;
        let nanoseconds = u32::try_from(found.ctime_nsec()).ok()?;
        let changed = SystemTime::UNIX_EPOCH + std::time::Duration::new(seconds, nanoseconds);
        Some(modified.max(changed))
    }
    #[cfg(not(unix))]
    Some(modified)
}

/// Compares the files of a test, and checks whether a file that was absent now exists. Recordings are compared only if they
/// are replayed.
pub(crate) fn check(test: &Test, replays: Replays, depth: Depth) -> Freshness {
    let set = test.set;
    let root = root(set.manifest_dir);
    // A config without its set proves nothing: the sources may be elsewhere.
    if !are_sources_here(&root, [set.file]) {
        return Freshness::Absent;
    }
    let models = test.model_files().filter(|_| replays.models);
    for compiled in set.files(replays.judges).chain(models) {
        let how = match compare(&root, &compiled, depth) {
            Compared::Same => continue,
            Compared::Differs => "changed",
            Compared::Gone => "was removed",
        };
        return Freshness::Stale(format!("`{}` {how} after this test was built", compiled.file));
    }
    let new_recording = set.recording.iter().filter(|recording| replays.judges && recording.text.is_none());
    let new_recording = new_recording.map(|recording| recording.file.to_owned());
    let new_models = test.absent_model_file().filter(|_| replays.models);
    let absent = set.absent.iter().map(|file| (*file).to_owned());
    match absent
        .chain(new_recording)
        .chain(new_models)
        .find(|file| root.join(file).symlink_metadata().is_ok())
    {
        Some(file) => Freshness::Stale(format!("`{file}` was created after this test was built")),
        None => Freshness::Fresh,
    }
}

pub(crate) fn has_its_set(set: &SetSource) -> bool {
    root(set.manifest_dir).join(set.file).exists()
}

/// Whether the sources are on this machine: one of the files exists, or at least the folder of one.
///
/// If a set is gone and its folder still exists, the set was removed. The manifest proves nothing: nextest wants it
/// beside an archive too.
pub(crate) fn are_sources_here<'a>(root: &Path, files: impl IntoIterator<Item = &'a str>) -> bool {
    files.into_iter().any(|file| {
        let folder = file.rsplit_once('/').map(|(folder, _)| folder);
        root.join(file).exists() || folder.is_some_and(|folder| root.join(folder).is_dir())
    })
}

/// The folder of the package. Cargo and nextest name it when they run a test, also from an archive.
pub(crate) fn root(compiled: &str) -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(compiled), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const FILE: &str = "evals/weather.evalset.json";

    /// A package with one file, which was compiled in as `compiled`, and a time after that.
    fn package(on_disk: &str) -> (tempfile::TempDir, SystemTime) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("evals")).unwrap();
        fs::write(folder.path().join(FILE), on_disk).unwrap();
        // Longer than the clock of a file system ticks.
        std::thread::sleep(Duration::from_millis(30));
        let built = SystemTime::now();
        std::thread::sleep(Duration::from_millis(30));
        (folder, built)
    }

    fn compared(root: &Path, compiled: &'static str, depth: Depth, built: SystemTime) -> Compared {
        compare_now(root, &FileSource { file: FILE, text: compiled }, depth, Some(built))
    }

    fn text(byte: char, bytes: u64) -> &'static str {
        String::leak(byte.to_string().repeat(usize::try_from(bytes).unwrap()))
    }

    #[test]
    fn the_content_of_a_small_file_is_always_compared() {
        let (folder, built) = package(text('a', MAX_ALWAYS_COMPARED_BYTES));
        for (compiled, expected) in [
            (text('a', MAX_ALWAYS_COMPARED_BYTES), Compared::Same),
            (text('b', MAX_ALWAYS_COMPARED_BYTES), Compared::Differs),
            (text('a', MAX_ALWAYS_COMPARED_BYTES - 1), Compared::Differs),
        ] {
            assert_eq!(compared(folder.path(), compiled, Depth::AsTimesSay, built), expected);
        }
    }

    #[test]
    fn the_content_of_a_large_file_is_compared_if_a_time_is_newer_or_a_test_failed() {
        let (folder, built) = package(text('a', MAX_ALWAYS_COMPARED_BYTES + 1));
        let (other, root) = (text('b', MAX_ALWAYS_COMPARED_BYTES + 1), folder.path());
        assert_eq!(compared(root, other, Depth::AsTimesSay, built), Compared::Same, "nothing changed since");
        assert_eq!(compared(root, other, Depth::Content, built), Compared::Differs);
        let file = FileSource { file: FILE, text: other };
        assert_eq!(compare_now(root, &file, Depth::AsTimesSay, None), Compared::Differs, "no time is known");

        let path = root.join(FILE);
        fs::rename(&path, root.join("evals/aside")).unwrap();
        fs::rename(root.join("evals/aside"), &path).unwrap();
        assert_eq!(compared(root, other, Depth::AsTimesSay, built), Compared::Differs, "the file was moved");
    }

    #[cfg(unix)]
    #[test]
    fn a_swapped_folder_and_a_swapped_link_count_as_newer() {
        let (folder, built) = package("{}");
        let root = folder.path();
        assert!(!is_newer(root, FILE, built));
        fs::rename(root.join("evals"), root.join("others")).unwrap();
        fs::rename(root.join("others"), root.join("evals")).unwrap();
        assert!(is_newer(root, FILE, built), "the folder was moved");

        let (target, built) = package("{}");
        let links = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(target.path().join("evals"), links.path().join("evals")).unwrap();
        assert!(is_newer(links.path(), FILE, built), "the link is new");
    }
}
