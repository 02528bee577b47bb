//! The bytes of a regular file of limited size.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The first bytes of gzip data. No text contains the first of them, a control character.
pub const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The size limit of a file of cases, in bytes. Reading a file takes several times its size in memory.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// A reason to refuse a file that could be read. It is the inner error of an [`io::Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Not a regular file: reading a device or a pipe may never begin or end.
    NoFile,
    /// It has more than 256 MiB.
    TooLarge,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => {
                f.write_str("it is no regular file: a device, a pipe or a socket may have no end")
            }
            Self::TooLarge => write!(f, "it has more than {} MiB", MAX_FILE_BYTES >> 20),
        }
    }
}

impl Error for Unfit {}

impl From<Unfit> for io::Error {
    fn from(unfit: Unfit) -> Self {
        Self::new(ErrorKind::InvalidInput, unfit)
    }
}

/// Opens a regular file of any size. A device or a pipe is refused before it is opened, which may never return.
pub fn open_file(path: &Path) -> io::Result<File> {
    let found = fs::metadata(path)?;
    // Reading a folder fails with the system's own error.
    if found.is_file() || found.is_dir() { File::open(path) } else { Err(Unfit::NoFile.into()) }
}

/// The bytes of a regular file of at most 256 MiB.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_file(path)?;
    if file.metadata().is_ok_and(|found| found.is_file() && found.len() > MAX_FILE_BYTES) {
        return Err(Unfit::TooLarge.into());
    }
    let mut bytes = Vec::new();
    // A file may grow while it is read, and some files report a length of 0.
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES { Err(Unfit::TooLarge.into()) } else { Ok(bytes) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_and_a_device_are_refused_before_they_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            for error in [open_file(path).unwrap_err(), read_file(path).unwrap_err()] {
                assert_eq!(error.to_string(), Unfit::NoFile.to_string());
            }
        }
        fs::write(folder.path().join("file"), "text").unwrap();
        assert_eq!(read_file(&folder.path().join("file")).unwrap(), b"text");
        assert!(read_file(folder.path()).is_err());
    }
}
