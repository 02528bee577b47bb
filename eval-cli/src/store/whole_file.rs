//! Files that others may read while they are written.

use std::fs::File;
use std::io;
use std::path::Path;

/// Writes a file under another name and renames it.
pub(super) fn write_whole(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    write(file.as_file_mut())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
