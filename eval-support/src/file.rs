//! The bytes of a regular file of limited size.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The first bytes of gzip data. No text contains the first of them, a control character.
pub const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The size limit of a file of cases, in bytes. Reading a file takes several times its size in memory.
pub const LARGEST_FILE: u64 = 256 << 20;

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
            Self::TooLarge => write!(f, "it has more than {} MiB", LARGEST_FILE >> 20),
        }
    }
}

impl Error for Unfit {}

impl From<Unfit> for io::Error {
    fn from(unfit: Unfit) -> Self {
        Self::new(ErrorKind::InvalidInput, unfit)
    }
}

/// The bytes of a regular file of at most 256 MiB.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    // Reading a folder fails with the system's own error.
    if !found.is_file() && !found.is_dir() {
        return Err(Unfit::NoFile.into());
    }
    if found.is_file() && found.len() > LARGEST_FILE {
        return Err(Unfit::TooLarge.into());
    }
    let mut bytes = Vec::new();
    // A file may grow while it is read, and some files report a length of 0.
    File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE { Err(Unfit::TooLarge.into()) } else { Ok(bytes) }
}
