//! The sets of a directory, for the runner.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use eval_format::compat::OverlookedConfig;
use eval_format::config::check_config;
use eval_format::conventions::shared_config_path;
use eval_format::find::find_sets;
use eval_format::reader::check_set;
use eval_format::{EvalConfig, EvalSet, ReadError};
use eval_support::file::read_file;

use super::error::RunDirError;
use super::places::Places;

/// A set and the config beside it.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) set: EvalSet,
    pub(super) places: Places,
    pub(super) config: Option<EvalConfig>,
    /// The config that it would have if that had another name or stood elsewhere.
    pub(super) overlooked: Option<OverlookedConfig>,
}

/// Reads the sets of a directory, in the order of their paths.
pub(super) fn read(directory: &Path, custom: &[&str]) -> Result<Vec<Found>, RunDirError> {
    let io = |source| ReadError::Io { path: directory.to_owned(), source };
    let files = find_sets(directory, "").map_err(|error| io(std::io::Error::other(error)))?;
    if files.is_empty() {
        return Err(RunDirError::NoSets(directory.to_owned()));
    }
    files.iter().map(|file| read_one(&directory.join(file), Some(directory), custom)).collect()
}

/// Reads a set and the config beside it. `directory` is the one that is searched.
pub(super) fn read_one(path: &Path, directory: Option<&Path>, custom: &[&str]) -> Result<Found, RunDirError> {
    let config = config_beside(path, custom)?;
    let overlooked = OverlookedConfig::of_set(path, directory);
    let (set, places) = read_set(path)?;
    Ok(Found { path: path.to_owned(), set, places, config, overlooked })
}

/// Reads a set, and where its cases stand.
fn read_set(path: &Path) -> Result<(EvalSet, Places), ReadError> {
    let bytes = read_file(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let checked = check_set(&path.display().to_string(), &bytes, None);
    let places = Places::of(path, &checked);
    Ok((checked.into_result().map_err(ReadError::Problems)?, places))
}

fn config_beside(set: &Path, custom: &[&str]) -> Result<Option<EvalConfig>, RunDirError> {
    match read_config(&shared_config_path(set), custom) {
        Err(ReadError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        read => Ok(Some(read?)),
    }
}

/// Reads a config, which may name the custom metrics of the program.
pub(super) fn read_config(path: &Path, custom: &[&str]) -> Result<EvalConfig, ReadError> {
    let bytes = read_file(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    check_config(&path.display().to_string(), &bytes, custom).into_result().map_err(ReadError::Problems)
}
