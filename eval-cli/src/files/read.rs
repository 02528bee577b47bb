//! Reading a file, and why it cannot be read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::output::CommandError;

/// No set is larger. Reading takes several times the memory of a file.
const LARGEST: u64 = 256 << 20;

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    let bytes = bytes(path).map_err(|error| unreadable(path, &error))?;
    bytes.map_err(|refused| refused.error(path))
}

/// A file that is not read, although it could be.
enum Refused {
    /// A device or a pipe may have no end, and may never begin.
    NoFile,
    TooLarge,
}

impl Refused {
    fn error(&self, path: &Path) -> CommandError {
        let shown = path.display();
        match self {
            Self::NoFile => CommandError::new(
                format!("`{shown}` is no regular file: a device, a pipe or a socket may have no end"),
                "name a file or a folder",
            ),
            Self::TooLarge => CommandError::new(
                format!("`{shown}` has more than {} MiB", LARGEST >> 20),
                "split it: no tool that reads eval sets reads one of that size",
            ),
        }
    }
}

fn bytes(path: &Path) -> io::Result<Result<Vec<u8>, Refused>> {
    let found = fs::metadata(path)?;
    if !found.is_file() && !found.is_dir() {
        return Ok(Err(Refused::NoFile));
    }
    if found.is_file() && found.len() > LARGEST {
        return Ok(Err(Refused::TooLarge));
    }
    let mut bytes = Vec::new();
    // A file may grow while it is read, and some have no length.
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() as u64 > LARGEST { Err(Refused::TooLarge) } else { Ok(bytes) })
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
