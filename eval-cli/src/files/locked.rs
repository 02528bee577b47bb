//! A file that is read, changed and written while no other process of this program writes in its folder.

use std::path::Path;
use std::{fs, io};

use eval_support::lock::{FolderLock, FolderLockError};
use eval_support::untrusted::one_line;

use super::unwritten;
use super::{read_if_there, replace};
use crate::output::CommandError;

/// Changes a file while its folder is locked, so that concurrent changes lose nothing. `change` gets its bytes, or `None` without a
/// file. The text that it returns is written if it differs; without a text, nothing is written.
pub(crate) fn locked<T>(
    path: &Path,
    change: impl FnOnce(Option<&[u8]>) -> Result<(Option<String>, T), CommandError>,
) -> Result<T, CommandError> {
    let shown = path.display().to_string();
    let write_error = |error: &io::Error| unwritten(&shown, error);
    // Links are resolved, so that two names of one file share a lock.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let lock = FolderLock::beside(&target).map_err(|error| match &error {
        FolderLockError::Held { .. } => CommandError::new(
            one_line(&error.to_string()),
            "wait until it has written, or end it, and try again",
        ),
        FolderLockError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound => write_error(error),
        FolderLockError::Io { place, .. } => {
            let place = one_line(&place.display().to_string());
            let help = format!("give this user permission to read and write `{place}`");
            CommandError::new(one_line(&error.to_string()), help)
        }
    })?;
    let bytes = read_if_there(path)?;
    let (text, result) = change(bytes.as_deref())?;
    if let Some(text) = text.filter(|text| bytes.as_deref() != Some(text.as_bytes())) {
        replace(&target, &text).map_err(|error| write_error(&error))?;
    }
    drop(lock);
    Ok(result)
}
