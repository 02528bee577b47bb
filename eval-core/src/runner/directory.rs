//! The sets of a directory, for the runner.

use std::fmt;
use std::path::{Path, PathBuf};

use eval_format::{CheckedConfig, EvalConfig, EvalSet, ReadError, check_config, find_sets, recording_path};

use super::RunnerError;
use crate::judge::RecordingStore;

/// Why a directory could not be run.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunDirError {
    /// The directory holds no eval sets.
    NoSets(PathBuf),
    /// A set or a config cannot be read.
    Read(ReadError),
    /// The runner's settings contradict each other.
    Runner(RunnerError),
}

impl fmt::Display for RunDirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSets(path) => {
                write!(f, "`{}` holds no eval sets (`*.evalset.json` or `*.test.json`)", path.display())
            }
            Self::Read(error) => write!(f, "{error}"),
            Self::Runner(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for RunDirError {}

impl From<ReadError> for RunDirError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<RunnerError> for RunDirError {
    fn from(error: RunnerError) -> Self {
        Self::Runner(error)
    }
}

/// A set and what stands beside it.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) set: EvalSet,
    pub(super) config: Option<EvalConfig>,
    pub(super) recording: RecordingStore,
}

/// The sets in the order of their paths.
pub(super) fn read(directory: &Path, custom: &[&str]) -> Result<Vec<Found>, RunDirError> {
    let io = |source| ReadError::Io { path: directory.to_owned(), source };
    let files = find_sets(directory, "").map_err(|error| io(std::io::Error::other(error)))?;
    if files.is_empty() {
        return Err(RunDirError::NoSets(directory.to_owned()));
    }
    files.iter().map(|file| read_one(&directory.join(file), custom)).collect()
}

/// A set with what stands beside it.
pub(super) fn read_one(path: &Path, custom: &[&str]) -> Result<Found, RunDirError> {
    let config = config_beside(path, custom)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let recording = RecordingStore::on_disk(&path.with_file_name(recording_path(&name)));
    Ok(Found { path: path.to_owned(), set: EvalSet::read(path)?, config, recording })
}

fn config_beside(set: &Path, custom: &[&str]) -> Result<Option<EvalConfig>, RunDirError> {
    let path = set.with_file_name("test_config.json");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ReadError::Io { path, source }.into()),
    };
    let checked: CheckedConfig = check_config(&path.display().to_string(), &bytes, custom);
    Ok(Some(checked.into_result().map_err(ReadError::Problems)?))
}
