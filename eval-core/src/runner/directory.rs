//! The sets of a directory, for the runner.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use eval_format::compat::OverlookedConfig;
use eval_format::config::check_config;
use eval_format::conventions::shared_config_path;
use eval_format::find::find_sets;
use eval_format::reader::{CheckedSet, check_set};
use eval_format::{EvalConfig, EvalSet, ReadError};
use eval_support::file::read_file;

use super::error::RunDirError;
use crate::report::Location;

pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) set: EvalSet,
    pub(super) places: Places,
    pub(super) config: Option<EvalConfig>,
    /// A config that the set passes over because of its name or its folder.
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

/// Reads a set and the config beside it. `directory` is the folder that is searched for sets.
pub(super) fn read_one(path: &Path, directory: Option<&Path>, custom: &[&str]) -> Result<Found, RunDirError> {
    let config = config_beside(path, custom)?;
    let overlooked = OverlookedConfig::of_set(path, directory);
    let (set, places) = read_set(path)?;
    Ok(Found { path: path.to_owned(), set, places, config, overlooked })
}

fn read_set(path: &Path) -> Result<(EvalSet, Places), ReadError> {
    let bytes = read_file(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let checked = check_set(&path.display().to_string(), &bytes, None);
    let places = Places::of(path, &checked);
    Ok((checked.into_result().map_err(ReadError::Problems)?, places))
}

fn config_beside(set: &Path, custom: &[&str]) -> Result<Option<EvalConfig>, RunDirError> {
    let path = shared_config_path(set);
    match read_config(&path, custom) {
        // A link that leads nowhere is there.
        Err(ReadError::Io { source, .. })
            if source.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() =>
        {
            Ok(None)
        }
        read => Ok(Some(read?)),
    }
}

/// Reads a config, which may name the custom metrics of the program.
pub(super) fn read_config(path: &Path, custom: &[&str]) -> Result<EvalConfig, ReadError> {
    let bytes = read_file(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let checked = check_config(&path.display().to_string(), &bytes, custom).into_result();
    Ok(checked.map_err(ReadError::Problems)?.in_folder_of(path))
}

/// A set, and the ids of its cases that are to run; `None` for all cases.
pub(super) struct Selected {
    pub(super) found: Found,
    pub(super) ids: Option<Vec<String>>,
}

impl Selected {
    pub(super) fn select(&mut self, ids: Option<Vec<String>>) {
        match (&mut self.ids, ids) {
            (Some(known), Some(more)) => known.extend(more),
            (known, _) => *known = None,
        }
    }
}

/// The places of a set's cases; empty for a set that comes from no file.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The absolute path of the file.
    pub(super) path: Option<String>,
    /// The places by the ids of the cases.
    pub(super) cases: HashMap<String, Location>,
}

impl Places {
    pub(super) fn of(path: &Path, checked: &CheckedSet) -> Self {
        let file = path.display().to_string();
        let cases = checked.cases.iter().map(|span| {
            let location = Location { file: file.clone(), line: span.line, column: span.column };
            (span.eval_id.clone(), location)
        });
        let path = std::path::absolute(path).ok().and_then(|path| Some(path.to_str()?.to_owned()));
        Self { path, cases: cases.collect() }
    }
}
