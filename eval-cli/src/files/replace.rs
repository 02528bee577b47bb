//! Writing a file so that it is never half written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file whole or not at all: beside it under another name, and then in its place.
///
/// What was there keeps its permissions. A link is followed and stays one. A file that may not be written to is
/// refused, although its folder would let it be replaced.
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
    let (mut file, temporary) = create_beside(&target)?;
    let written = fill(&mut file, text, permissions).and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        // The error that led here is the one to tell.
        drop(fs::remove_file(&temporary));
    }
    written
}

fn fill(file: &mut File, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    // Else a machine that goes down may keep the new name without the new text.
    file.sync_all()
}

/// A new file in the same folder, which is on the same disk. It is hidden and does not end like an eval set, so that
/// one left over by a killed process is never taken for one.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    let mut attempt = 0;
    loop {
        let temporary = target.with_file_name(format!(".evalset-{}-{attempt}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < MOST_ATTEMPTS => {
                attempt += 1;
            }
            created => return created.map(|file| (file, temporary)),
        }
    }
}

/// Names left over by earlier processes of the same number.
const MOST_ATTEMPTS: u32 = 100;
