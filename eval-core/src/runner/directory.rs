//! The sets of a directory, for the runner.

use std::fmt;
use std::path::{Path, PathBuf};

use eval_format::{CheckedConfig, EvalConfig, EvalSet, ReadError, check_config, find_sets};

use super::RunnerError;

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

/// The sets in the order of their paths, each with the `test_config.json` beside it.
pub(super) fn read(
    directory: &Path,
    custom: &[&str],
) -> Result<Vec<(EvalSet, Option<EvalConfig>)>, RunDirError> {
    let io = |source| ReadError::Io { path: directory.to_owned(), source };
    let files = find_sets(directory, "").map_err(|error| io(std::io::Error::other(error)))?;
    if files.is_empty() {
        return Err(RunDirError::NoSets(directory.to_owned()));
    }
    files
        .iter()
        .map(|file| {
            let path = directory.join(file);
            let config = config_beside(&path, custom)?;
            Ok((EvalSet::read(&path)?, config))
        })
        .collect()
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
