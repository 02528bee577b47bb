//! The two sides of a comparison: the file of a baseline, or a recorded run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use eval_core::journal::Revision;
use eval_core::journal::project::Project;
use eval_report::baseline::{Baseline, Key, Measured, measure};
use eval_report::journal::RunDir;
use eval_report::run_page::Against;
use eval_support::id::fresh_id;
use eval_support::untrusted::one_line;
use eval_support::words::{short_code_list, were};

use crate::files::{read_if_there, write};
use crate::output::{CommandError, read, unreadable};
use crate::recorded::{LoadedRun, RunResults, WhichRun, near, own_runs, root};

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

/// The runs of this project, the last one first, without runs of suspects.
pub(crate) fn runs_of_builds() -> Result<Vec<RunDir>, CommandError> {
    let root = root();
    let (mut runs, _) = own_runs(&root).map_err(|error| unreadable(&root, &error))?;
    runs.retain(|run| run_of_suspects(&run.id).is_none());
    Ok(runs)
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

/// The baseline that the page of a run is compared with: this file, else the one that is found. A mistake in one that is found is
/// told on the page.
pub(crate) fn against(named: Option<&Path>) -> Result<Option<Against>, CommandError> {
    let path = baseline_path(named);
    if named.is_none() && !path.is_file() {
        return Ok(None);
    }
    let baseline = match read_baseline(&path) {
        Err(error) if named.is_none() => Err(error.message),
        baseline => Ok(baseline?),
    };
    Ok(Some(Against { name: one_line(&path.display().to_string()), baseline }))
}

/// The commit that is checked out in the current folder.
pub(crate) fn commit_here() -> Option<String> {
    let here = std::env::current_dir().ok()?;
    Revision::from_folder(&here).map(|revision| revision.commit)
}

/// The reasons why a run is not complete; empty if it is. `partial` says that tests were left out on purpose.
pub(crate) fn why_incomplete(loaded: &LoadedRun, partial: bool) -> Result<Vec<String>, CommandError> {
    Ok(results(loaded, partial)?.why_incomplete())
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
        Self::of_run(&loaded)
    }

    /// A recorded run.
    pub(crate) fn of_run(loaded: &LoadedRun) -> Result<Self, CommandError> {
        refuse_suspects(loaded)?;
        let doubts = why_incomplete(loaded, false)?;
        let name = format!("run {}", loaded.name());
        let measured = measure([loaded], None);
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
        let names: Vec<String> = names.into_iter().collect();
        (!names.is_empty()).then(|| format!("{} {} {what}", short_code_list(&names), were(names.len())))
    };
    let edited = named(&measured.edited, "edited between the runs: only the last runs count");
    let retried = named(
        &measured.retried,
        "tried again by the test runner: the first attempt with a verdict counts, as attempts are no runs",
    );
    edited.into_iter().chain(retried).collect()
}

pub(crate) fn results(loaded: &LoadedRun, partial: bool) -> Result<RunResults<'_>, CommandError> {
    RunResults::new(loaded, None, partial)
        .map_err(|error| CommandError::new(error.to_string(), "report the run: `cargo evalset report`"))
}

/// The baseline in a file. A mistake in it is an error with its line.
pub(crate) fn read_baseline(path: &Path) -> Result<Baseline, CommandError> {
    parsed(path, &read(path)?)
}

fn parsed(path: &Path, bytes: &[u8]) -> Result<Baseline, CommandError> {
    let shown = one_line(&path.display().to_string());
    let text = std::str::from_utf8(bytes).map_err(|_| {
        CommandError::new(format!("`{shown}` is not UTF-8"), "restore it from git: `git checkout -- FILE`")
    })?;
    Baseline::parse(text)
        .map_err(|error| CommandError::new(format!("{shown}:{}: {}", error.line, error.message), error.help))
}

/// The baseline in a file; an empty one if there is no file yet, or nothing in it.
pub(crate) fn baseline_or_new(path: &Path) -> Result<Baseline, CommandError> {
    let bytes = read_if_there(path)?.unwrap_or_default();
    if bytes.trim_ascii().is_empty() { Ok(Baseline::default()) } else { parsed(path, &bytes) }
}

pub(crate) fn write_baseline(path: &Path, baseline: &Baseline) -> Result<(), CommandError> {
    let text = baseline
        .text()
        .map_err(|error| CommandError::new(format!("cannot write JSON: {error}"), "report this as a bug"))?;
    write(path, &text)
}
