//! Files that did not exist before.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::output::CommandError;
use crate::output::foreign::one_line;

/// Refuses a path at which there is something.
pub(super) fn refuse_existing(path: &Path) -> Result<(), CommandError> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let message = format!("`{}` exists already", shown(path));
    Err(CommandError::new(message, "choose another name: `cargo evalset new NAME`"))
}

/// Writes a file that does not exist yet, with the folders that it needs.
pub(super) fn write_new(path: &Path, text: &str) -> Result<(), CommandError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let written = fs::create_dir_all(folder)
        .and_then(|()| OpenOptions::new().write(true).create_new(true).open(path))
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| cannot_write(path, &error))
}

pub(super) fn cannot_write(path: &Path, error: &io::Error) -> CommandError {
    let help = "make the folder writable for this user, then run the command again";
    CommandError::new(format!("cannot write `{}`: {error}", shown(path)), help)
}

/// A path in one line, whatever it is made of.
pub(super) fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}
