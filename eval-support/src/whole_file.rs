//! Atomic writes of files, so that none is ever half written: recordings, results, and files of the command
//! line.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;

/// Writes a whole file or leaves it as it is: the content goes to another file in the same folder, which then replaces
/// this one.
///
/// The permissions of an existing file are kept. A link is kept, and its target is replaced. Fails if the file is
/// read-only, although its folder would allow it to be replaced.
pub fn replace(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    TemporaryFile::create(path, content.as_ref(), NewFile::Usual)?.replace()
}

/// Writes a file that only this user may read, as journals are.
pub fn replace_private(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    TemporaryFile::create(path, content.as_ref(), NewFile::Private)?.replace()
}

/// Fails if [`replace`] would fail, as far as this can be checked without writing.
pub fn check_replaceable(path: &Path) -> io::Result<()> {
    let (target, permissions) = target(path)?;
    beside(&target, permissions, NewFile::Usual).map(drop)
}

/// Writes a whole file that does not exist yet, or nothing. Fails with [`io::ErrorKind::AlreadyExists`] if it exists.
pub fn create(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let TemporaryFile { file, .. } = TemporaryFile::create(path, content.as_ref(), NewFile::Usual)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Err(failed.error),
        // Some network drives can neither keep a rename from replacing a file nor link files.
        Err(_) => create_in_place(path, content.as_ref()),
    }
}

/// Writes a file under its own name. Readers may see the beginning of it.
fn create_in_place(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    if written.is_err() {
        // The first error is the one to report.
        drop(fs::remove_file(path));
    }
    written
}

/// Permissions of a new file.
#[derive(Clone, Copy)]
enum NewFile {
    /// The usual readers of this user's files.
    Usual,
    Private,
}

/// A temporary file beside the file that it will replace.
struct TemporaryFile {
    file: NamedTempFile,
    /// The file that it replaces.
    target: PathBuf,
}

impl TemporaryFile {
    fn create(path: &Path, content: &[u8], new: NewFile) -> io::Result<Self> {
        let (target, permissions) = target(path)?;
        let mut file = beside(&target, permissions, new)?;
        file.write_all(content)?;
        // Otherwise the new name may outlive a crash of the machine without the new content.
        file.as_file().sync_all()?;
        Ok(Self { file, target })
    }

    fn replace(self) -> io::Result<()> {
        self.file.persist(self.target).map(drop).map_err(|failed| failed.error)
    }
}

/// The file that a path leads to, and its permissions if it exists.
fn target(path: &Path) -> io::Result<(PathBuf, Option<Permissions>)> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.permissions().readonly() => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"))
        }
        Ok(metadata) if !metadata.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
        }
        Ok(metadata) => Ok((fs::canonicalize(path)?, Some(metadata.permissions()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((path.to_path_buf(), None)),
        Err(error) => Err(error),
    }
}

/// An empty file for this user alone, beside `target`. It is removed when it is dropped. If this process is
/// killed, a later write in the folder removes it.
pub fn private_beside(target: &Path) -> io::Result<NamedTempFile> {
    beside(target, None, NewFile::Private)
}

fn beside(target: &Path, permissions: Option<Permissions>, new: NewFile) -> io::Result<NamedTempFile> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    remove_leftovers(folder);
    // Hidden, and not named like an eval set: a file that a killed process leaves behind is not taken for one.
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(PREFIX).suffix(SUFFIX);
    // A file that replaces an existing one is private until it has the permissions of that file.
    let new = if permissions.is_some() { NewFile::Private } else { new };
    let mut named = builder.make_in(folder, |path| new_file(path, new))?;
    let file = named.as_file_mut();
    // The lock tells other processes that this one still writes. Some systems have no locks.
    drop(file.try_lock());
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    Ok(named)
}

const PREFIX: &str = ".evalset-";
const SUFFIX: &str = ".tmp";

fn new_file(path: &Path, new: NewFile) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if let NewFile::Private = new {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = new;
    options.open(path)
}

/// Removes the files that killed processes left in a folder. Files that cannot be removed stay.
fn remove_leftovers(folder: &Path) {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = names.filter(|entry| {
        let name = entry.file_name();
        let is_ours = |name: &str| name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        name.to_str().is_some_and(is_ours) && entry.file_type().is_ok_and(|kind| kind.is_file())
    });
    for entry in ours {
        let is_old = entry
            .metadata()
            .and_then(|found| found.modified())
            .is_ok_and(|written| written.elapsed().is_ok_and(|age| age > LEFTOVER_AGE));
        let is_free = || File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if is_old && is_free() {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// The age of a file that is left over. Writing takes less time.
const LEFTOVER_AGE: Duration = Duration::from_mins(1);

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_private_file_is_private_from_the_first_byte() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("draft");
        let mode = |file: &File| file.metadata().expect("metadata").permissions().mode() & 0o777;
        assert_eq!(mode(&new_file(&path, NewFile::Private).expect("a file")), 0o600);
        let plain = mode(&File::create(folder.path().join("plain")).expect("a file"));
        assert_eq!(mode(&new_file(&folder.path().join("new"), NewFile::Usual).expect("a file")), plain);
        let copy = folder.path().join("copy");
        replace_private(&copy, "{}").expect("it is written");
        assert_eq!(mode(&File::open(&copy).expect("a file")), 0o600);
        private_beside(&copy).expect("a file").persist(folder.path().join("other")).expect("a name");
        assert_eq!(mode(&File::open(folder.path().join("other")).expect("a file")), 0o600);
    }

    #[test]
    fn an_existing_file_is_never_replaced_by_a_new_one() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, create) in
            [("one", (|path, text| create(path, text)) as fn(&Path, &[u8]) -> _), ("two", create_in_place)]
        {
            let path = folder.path().join(name);
            create(&path, b"first").expect("it is new");
            let again: io::Result<()> = create(&path, b"second");
            assert_eq!(again.expect_err("it exists").kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&path).expect("a file"), b"first");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing is left beside them");
    }

    #[test]
    fn what_killed_processes_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = SystemTime::now() - Duration::from_hours(1);
        let make = |name: &str| {
            let file = File::create(folder.path().join(name)).expect("a file");
            file.set_modified(old).expect("times can be set");
            file
        };
        for name in [".evalset-left.tmp", ".evalset-other", "mine.tmp"] {
            make(name);
        }
        let used = make(".evalset-used.tmp");
        used.try_lock().expect("a lock");
        File::create(folder.path().join(".evalset-fresh.tmp")).expect("a file");
        replace(&folder.path().join("x.json"), "{}").expect("it is written");
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [".evalset-fresh.tmp", ".evalset-other", ".evalset-used.tmp", "mine.tmp", "x.json"]
        );
    }
}
