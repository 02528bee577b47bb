//! The sets that the pages are about.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::edited::select;
use crate::output::CommandError;

/// The sets below the folder in which the service was started, as `cargo evalset list .` finds them.
pub(super) fn all() -> Result<Vec<PathBuf>, CommandError> {
    Ok(select(&[OsString::from(".")])?.into_iter().map(|set| set.path).collect())
}
