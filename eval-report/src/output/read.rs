//! Reading a file, and why it cannot be read.

use std::fs;
use std::io;
use std::path::Path;

use eval_support::file::{Unfit, read_file};

use crate::output::CommandError;

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    read_file(path).map_err(|error| match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(unfit) => refused(path, *unfit),
        None => unreadable(path, &error),
    })
}

fn refused(path: &Path, unfit: Unfit) -> CommandError {
    let message = unfit.to_string();
    let help = match unfit {
        Unfit::NoFile => "name a file or a folder",
        Unfit::TooLarge => "split it: no tool that reads eval sets reads one of that size",
    };
    CommandError::new(format!("`{}` {}", path.display(), message.trim_start_matches("it ")), help)
}

/// Why a file cannot be read. A link whose target does not exist is an error of its own.
pub fn unreadable(path: &Path, error: &io::Error) -> CommandError {
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
