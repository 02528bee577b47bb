//! The two sides of a comparison: the file of a baseline, or a recorded run.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use eval_core::journal::Revision;
use eval_core::journal::project::Project;
use eval_report::baseline::{Baseline, Key, Measured, measure};
use eval_report::journal::revision_of_run;
use eval_support::id::fresh_id;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};

use crate::files::write;
use crate::output::{CommandError, read};
use crate::recorded::{LoadedRun, Problem, RunResults, State, WhichRun, near};

/// The baseline of a project, if no other is named.
pub(crate) const BASELINE: &str = "evalset-baseline.jsonl";

/// What is between the id of a run and the number of a round in which its suspects ran again.
const SUSPECTS: &str = "-suspects-";

/// A new id for a test run in which suspects of a run run again. A gate counts the runs that it made itself, so no two gates share
/// one.
pub(crate) fn id_of_suspects(run: &str) -> String {
    fresh_id(&format!("{run}{}", SUSPECTS.trim_end_matches('-')))
}

/// The run whose suspects ran again in this one; `None` for every other run.
pub(crate) fn run_of_suspects(id: &str) -> Option<&str> {
    id.split_once(SUSPECTS).map(|(run, _)| run)
}

/// Refuses a run of suspects. Only failing cases ran in it, so alone it is no sample of the build.
pub(crate) fn refuse_suspects(loaded: &LoadedRun) -> Result<(), CommandError> {
    let Some((id, run)) = loaded.run.ids.iter().find_map(|id| Some((id, run_of_suspects(id)?))) else {
        return Ok(());
    };
    let message =
        format!("in `{}` suspects ran again: only the gate which ran them counts them", one_line(id));
    Err(CommandError::new(message, format!("name the run that they were suspects of: `{}`", one_line(run))))
}

/// The baseline that is meant: this file, else the one of the current folder, or of the nearest folder above it that has one. Above
/// the folder of the project, sets have other names.
pub(crate) fn baseline_path(named: Option<&Path>) -> PathBuf {
    if let Some(named) = named {
        return named.to_owned();
    }
    let here = std::env::current_dir().unwrap_or_default();
    let root = Project::from_folder(&here).folder;
    let folders = here.ancestors().take_while(|folder| folder.starts_with(&root));
    let found = folders.map(|folder| folder.join(BASELINE)).find(|path| path.is_file());
    found.map_or_else(|| BASELINE.into(), |path| near(&path).to_owned())
}

/// The commit that is checked out in the current folder.
pub(crate) fn commit_here() -> Option<String> {
    let here = std::env::current_dir().ok()?;
    Revision::from_folder(&here).map(|revision| revision.commit)
}

/// The commit that was checked out when a run began.
pub(crate) fn commit_of(loaded: &LoadedRun) -> Option<String> {
    loaded.folders.iter().find_map(|folder| revision_of_run(folder)).map(|revision| revision.commit)
}

/// The reasons why a run is not complete; empty if it is. What did not run, or was killed, may have failed.
pub(crate) fn why_incomplete(results: &RunResults<'_>) -> Vec<String> {
    let RunResults { totals, loaded, .. } = results;
    let mut reasons: Vec<String> = results.problems.iter().map(Problem::shown).collect();
    if totals.is_running {
        reasons.push("the run is still in progress".to_owned());
    } else if totals.missing > 0 && results.problems.is_empty() {
        reasons.push(format!("{} never began", count(totals.missing, "case")));
    }
    if totals.unfinished > 0 {
        let of_state = results.tests.iter().filter(|test| test.state == State::Unfinished);
        let names: Vec<String> = of_state.map(|test| one_line(&test.name)).collect();
        reasons.push(format!(
            "{} without an end: {}; its process was killed, or still runs",
            count(totals.unfinished, "case"),
            short_code_list(&names)
        ));
    }
    // What a rerun mended has its end in another file.
    let is_mended = loaded.run.processes.iter().any(|head| head.is_rerun());
    if loaded.run.torn > 0 && !is_mended && reasons.is_empty() {
        let lines = count(loaded.run.torn, "incomplete line");
        reasons.push(format!("{lines} in its record: a process was killed, or its disk was full"));
    }
    reasons
}

/// The runs of each case on one side.
pub(crate) struct Side {
    pub(crate) cases: Baseline,
    /// Its name for people.
    pub(crate) name: String,
    /// Reasons why they may not be all runs of their build.
    pub(crate) doubts: Vec<String>,
    /// What a reader has to know about them.
    pub(crate) notes: Vec<String>,
}

impl Side {
    /// The side that is named: the file of a baseline, else the id or the folder of a run.
    pub(crate) fn named(name: &str) -> Result<Self, CommandError> {
        let path = Path::new(name);
        if path.is_file() {
            let name = format!("baseline {}", one_line(name));
            return Ok(Self { cases: read_baseline(path)?, name, doubts: Vec::new(), notes: Vec::new() });
        }
        if is_like_a_file(path) {
            let help =
                "name the file of a baseline, or the id of a run: `cargo evalset report` shows the last one";
            return Err(CommandError::new(format!("there is no file `{}`", one_line(name)), help));
        }
        let loaded = WhichRun::named(Some(name.to_owned())).load()?;
        Self::of_run(&loaded, false)
    }

    /// A recorded run. `partial` says that tests were left out on purpose.
    pub(crate) fn of_run(loaded: &LoadedRun, partial: bool) -> Result<Self, CommandError> {
        let doubts = why_incomplete(&results(loaded, partial)?);
        let name = format!("run {}", loaded.name());
        let measured = measure(&[loaded], None);
        let notes = notes(&measured);
        Ok(Self { cases: measured.cases, name, doubts, notes })
    }
}

/// Whether a name cannot be meant as the id or the folder of a run.
fn is_like_a_file(path: &Path) -> bool {
    !path.exists() && path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json")
}

/// What a reader has to know about how runs were counted.
pub(crate) fn notes(measured: &Measured) -> Vec<String> {
    let named = |keys: &[Key], what: &str| {
        let names: BTreeSet<String> = keys.iter().map(Key::to_string).collect();
        (!names.is_empty())
            .then(|| format!("{} {what}", short_code_list(&names.into_iter().collect::<Vec<_>>())))
    };
    let edited = named(&measured.edited, "was edited between the runs: only its last runs count");
    let retried = named(
        &measured.retried,
        "was tried again by the test runner: its first attempt with a verdict counts, as attempts are no runs",
    );
    edited.into_iter().chain(retried).collect()
}

pub(crate) fn results(loaded: &LoadedRun, partial: bool) -> Result<RunResults<'_>, CommandError> {
    RunResults::new(loaded, None, partial)
        .map_err(|error| CommandError::new(error.to_string(), "report the run: `cargo evalset report`"))
}

/// The baseline in a file. A mistake in it is an error with its line.
pub(crate) fn read_baseline(path: &Path) -> Result<Baseline, CommandError> {
    let shown = one_line(&path.display().to_string());
    let bytes = read(path)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| {
        CommandError::new(format!("`{shown}` is not UTF-8"), "restore it from git: `git checkout -- FILE`")
    })?;
    Baseline::parse(text)
        .map_err(|error| CommandError::new(format!("{shown}:{}: {}", error.line, error.message), error.help))
}

/// The baseline in a file; an empty one if there is no file yet, or nothing in it.
pub(crate) fn baseline_or_new(path: &Path) -> Result<Baseline, CommandError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Baseline::default()),
        _ if read(path)?.trim_ascii().is_empty() => Ok(Baseline::default()),
        _ => read_baseline(path),
    }
}

pub(crate) fn write_baseline(path: &Path, baseline: &Baseline) -> Result<(), CommandError> {
    let text = baseline
        .text()
        .map_err(|error| CommandError::new(format!("cannot write JSON: {error}"), "report this as a bug"))?;
    write(path, &text)
}
