//! Reading a file, and why it cannot be read.

use std::path::Path;
use std::{fs, io};

use crate::output::CommandError;

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    fs::read(path).map_err(|error| unreadable(path, &error))
}

/// Why a file cannot be read. A link whose target does not exist is an error of its own.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    let shown = path.display();
    match fs::read_link(path) {
        Ok(target) if error.kind() == io::ErrorKind::NotFound => CommandError::new(
            format!("`{shown}` is a link to `{}`, which does not exist", target.display()),
            "restore the target, or remove the link",
        ),
        _ => CommandError::new(
            format!("cannot read `{shown}`: {error}"),
            "give this user permission to read it, or leave it out",
        ),
    }
}
