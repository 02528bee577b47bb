//! Writing a file so that it is never half written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a whole file or leaves it as it is: the text goes to another file in the same folder, which then replaces this
/// one.
///
/// The permissions of an existing file are kept. A link is kept, and its target is replaced. Fails if the file is
/// read-only, although its folder would allow it to be replaced.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let (target, permissions) = match fs::metadata(path) {
        Ok(metadata) if metadata.permissions().readonly() => {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
        }
        Ok(metadata) if !metadata.is_file() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok(metadata) => (fs::canonicalize(path)?, Some(metadata.permissions())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_path_buf(), None),
        Err(error) => return Err(error),
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Hidden, and not named like an eval set: a file that a killed process leaves behind is not taken for one.
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(".evalset-").suffix(".tmp");
    // Unlike the files that `tempfile` itself opens, a new file then has the permissions that this user's files have.
    let mut written = builder.make_in(folder, |path| File::create_new(path))?;
    let file = written.as_file_mut();
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(text.as_bytes())?;
    // Otherwise the new name may outlive a crash of the machine without the new text.
    file.sync_all()?;
    written.persist(&target).map_err(|error| error.error)?;
    Ok(())
}
