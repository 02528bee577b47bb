//! Files that did not exist before.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use eval_support::untrusted::one_line;

use crate::output::CommandError;

/// Refuses a path at which there is something.
pub(super) fn refuse_existing(path: &Path) -> Result<(), CommandError> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let message = format!("`{}` exists already", shown(path));
    Err(CommandError::new(message, "choose another name: `cargo evalset new NAME`"))
}

/// Writes files that do not exist yet, with the folders that they need: all of them or none.
pub(super) fn write_new(files: &[(PathBuf, String)]) -> Result<(), CommandError> {
    for (at, (path, text)) in files.iter().enumerate() {
        let folder = path.parent().unwrap_or(Path::new(""));
        let written = fs::create_dir_all(folder)
            .and_then(|()| OpenOptions::new().write(true).create_new(true).open(path))
            .and_then(|mut file| file.write_all(text.as_bytes()));
        if let Err(error) = written {
            // The command can then be run again.
            files[..at].iter().for_each(|(path, _)| drop(fs::remove_file(path)));
            return Err(cannot_write(path, &error));
        }
    }
    Ok(())
}

pub(super) fn cannot_write(path: &Path, error: &io::Error) -> CommandError {
    let help = "make the folder writable for this user, then run the command again";
    CommandError::new(format!("cannot write `{}`: {error}", shown(path)), help)
}

/// A path in one line, whatever it is made of.
pub(super) fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}
