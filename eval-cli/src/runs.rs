//! Which recorded run a command is about.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use eval_core::journal::{self, RecordedRun};
use eval_format::suggest;
use serde_json::Value;

use crate::answer::Refusal;
use crate::shell;
use crate::show::one_line;

/// Which runs a command is about.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Which {
    /// The run: its id, or its folder; the last one unless said.
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// Runs that are taken together: partitions that ran apart. Ids, folders of runs, or folders that hold runs, of
    /// which the last is meant.
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with = "run")]
    merge: Vec<String>,
}

impl Which {
    /// Reads what is meant.
    pub(crate) fn read(&self) -> Result<Recording, Refusal> {
        let (folders, asked) = match &self.run {
            None if self.merge.is_empty() => (vec![last()?], Vec::new()),
            None => {
                let folders: Result<_, _> = self.merge.iter().map(|name| folder_named(name)).collect();
                (folders?, [&["--merge".to_owned()], self.merge.as_slice()].concat())
            }
            Some(name) => (vec![folder_named(name)?], vec![name.clone()]),
        };
        Ok(Recording { run: read_all(&folders)?, folders, asked })
    }
}

/// A run, and the folders that it was read from.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) run: RecordedRun,
    pub(crate) folders: Vec<PathBuf>,
    /// The arguments that named it.
    asked: Vec<String>,
}

impl Recording {
    /// The run in a few words.
    pub(crate) fn name(&self) -> String {
        match self.run.ids.as_slice() {
            [] => "(no id)".to_owned(),
            ids => one_line(&ids.join(" + ")),
        }
    }

    /// The arguments that name it for another command, each with a space after it; none for the last run.
    pub(crate) fn asked_for(&self) -> String {
        self.asked.iter().map(|word| shell::word(word) + " ").collect()
    }
}

fn read_all(folders: &[PathBuf]) -> Result<RecordedRun, Refusal> {
    RecordedRun::read_all(folders)
        .map_err(|error| Refusal::new(error.to_string(), "let this user read it, or name another run"))
}

fn folder_named(name: &str) -> Result<PathBuf, Refusal> {
    let path = Path::new(name);
    if path.is_dir() {
        // The folder of a run, or one such as `target/evalset`, of which the last run is meant.
        let holds_a_journal = !journals_in(path).is_empty();
        let inside = if holds_a_journal { Some(path.to_owned()) } else { last_in(path) };
        return inside.ok_or_else(|| {
            Refusal::new(
                format!("the folder `{name}` holds no recorded run"),
                "runs stand below `target/evalset`; the tests of `#[eval_set]` record them",
            )
        });
    }
    let root = root();
    let runs = root.as_deref().map(|root| journal::runs(root).unwrap_or_default()).unwrap_or_default();
    if let Some(run) = runs.iter().find(|run| run.id == name) {
        return Ok(run.path.clone());
    }
    let help = match (suggest(name, runs.iter().map(|run| run.id.as_str())), runs.first()) {
        (Some(meant), _) => format!("did you mean `{meant}`?"),
        (None, Some(last)) => format!("the last of {} is `{}`", runs.len(), last.id),
        (None, None) => NO_RUNS.to_owned(),
    };
    Err(Refusal::new(format!("there is no run `{name}`"), help))
}

const NO_RUNS: &str = "run the tests first: those of `#[eval_set]` record what happens, unless `EVALSET_JOURNAL=off`; \
                       `EVALSET_DIR` names the folder";

fn last() -> Result<PathBuf, Refusal> {
    let root = root().ok_or_else(|| Refusal::new("no folder of recorded runs is in sight", NO_RUNS))?;
    last_in(&root).ok_or_else(|| Refusal::new(format!("`{}` holds no recorded run", root.display()), NO_RUNS))
}

fn last_in(root: &Path) -> Option<PathBuf> {
    let newest = || journal::runs(root).ok()?.into_iter().next();
    journal::latest(root).or_else(newest).map(|run| run.path)
}

fn journals_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect()
}

/// The folder of all runs: where `EVALSET_DIR` says, else `evalset` in the target folder of cargo, else that of the
/// nearest folder above.
fn root() -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(root) = variable("EVALSET_DIR") {
        return Some(root);
    }
    let target = variable("CARGO_TARGET_DIR").or_else(target_of_cargo);
    let root = target.map(|target| target.join("evalset")).filter(|root| root.is_dir());
    root.or_else(|| {
        let here = env::current_dir().ok()?;
        here.ancestors().map(|folder| folder.join("target/evalset")).find(|root| root.is_dir())
    })
}

fn target_of_cargo() -> Option<PathBuf> {
    let metadata = metadata()?;
    metadata["target_directory"].as_str().map(PathBuf::from)
}

/// What cargo knows of the workspace here; nothing where there is none.
pub(crate) fn metadata() -> Option<Value> {
    let output =
        cargo().args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

/// Cargo, as it is called when it calls this program.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A path as it is shown: from here, where it stands below.
pub(crate) fn near(path: &Path) -> &Path {
    env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}
