//! The folders of recorded runs.

use std::env;
use std::path::{Path, PathBuf};

use eval_core::__private::variables::{self, RUN_ID};
use eval_core::journal;

use crate::cargo;
use crate::output::CommandError;
use crate::output::words::did_you_mean;

/// The folder of the run that a name stands for: a folder of runs such as `target/evalset` stands for its last run, any
/// other folder for itself, and every other name is the id of a run.
pub(super) fn named(name: &str) -> Result<PathBuf, CommandError> {
    let path = Path::new(name);
    if path.is_dir() {
        return Ok(last_in(path).unwrap_or_else(|| path.to_owned()));
    }
    let runs = root().map(|root| journal::runs(&root).unwrap_or_default()).unwrap_or_default();
    if let Some(run) = runs.iter().find(|run| run.id == name) {
        return Ok(run.path.clone());
    }
    let help = match (did_you_mean(name, runs.iter().map(|run| run.id.as_str())), runs.first()) {
        (Some(question), _) => question,
        (None, Some(last)) => format!("the last of {} is `{}`", runs.len(), last.id),
        (None, None) => NO_RUNS.to_owned(),
    };
    Err(CommandError::new(format!("there is no run `{name}`"), help))
}

const NO_RUNS: &str = "run the tests first: those of `#[eval_set]` record their runs, unless `EVALSET_JOURNAL=off` is set; \
                       `EVALSET_DIR` names the folder";

/// The folder of the last run: the one that `EVALSET_RUN_ID` names, if it is set.
pub(super) fn last() -> Result<PathBuf, CommandError> {
    let root =
        root().ok_or_else(|| CommandError::new("there is no folder of recorded runs here", NO_RUNS))?;
    if let Some(id) = env::var_os(RUN_ID).filter(|id| !id.is_empty()) {
        let id = id.to_string_lossy();
        let run = journal::runs(&root).unwrap_or_default().into_iter().find(|run| run.id == id);
        return run.map(|run| run.path).ok_or_else(|| {
            CommandError::new(
                format!("`{RUN_ID}` is `{id}`, and there is no such run in `{}`", root.display()),
                "the tests recorded nothing under this name: they did not build, did not start, or ran without the variable",
            )
        });
    }
    last_in(&root)
        .ok_or_else(|| CommandError::new(format!("`{}` holds no recorded run", root.display()), NO_RUNS))
}

/// Removes a few of the runs that are too many. Tests do not, and nobody waits for it.
pub(crate) fn prune() {
    if let Some(root) = root() {
        // A run too many does no harm.
        drop(journal::prune(&root));
    }
}

fn last_in(root: &Path) -> Option<PathBuf> {
    let newest = || journal::runs(root).ok()?.into_iter().next();
    journal::latest(root).or_else(newest).map(|run| run.path)
}

/// The folder of all runs: `EVALSET_DIR`, else `evalset` in cargo's target folder, else `target/evalset` in the nearest
/// folder above that has one.
fn root() -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(root) = variable(variables::DIR) {
        return Some(root);
    }
    let target = variable("CARGO_TARGET_DIR").or_else(cargo::target_directory);
    let root = target.map(|target| target.join("evalset")).filter(|root| root.is_dir());
    root.or_else(|| {
        let here = env::current_dir().ok()?;
        here.ancestors().map(|folder| folder.join("target/evalset")).find(|root| root.is_dir())
    })
}

/// The folder for runs that begin now: that of all runs, else `target/evalset` in the current folder.
pub(crate) fn new_root() -> PathBuf {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let target =
        || variable("CARGO_TARGET_DIR").or_else(cargo::target_directory).map(|target| target.join("evalset"));
    let root = root().or_else(target).unwrap_or_else(|| PathBuf::from("target/evalset"));
    std::path::absolute(&root).unwrap_or(root)
}

/// A path as it is shown: relative to the current folder if it is below that.
pub(crate) fn near(path: &Path) -> &Path {
    env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}
