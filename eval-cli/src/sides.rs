//! The two sides of a comparison: the file of a baseline, or a run that is recorded here or in a store.

mod rescored;

use std::path::{Path, PathBuf};

use eval_core::journal::Revision;
use eval_core::journal::project::Project;
use eval_format::conventions::{MODELS_SUFFIX, RECORDING_SUFFIX};
use eval_report::baseline::Baseline;
pub(crate) use eval_report::baseline::notes;
use eval_report::comparison::Side;
use eval_report::git::changed_files;
use eval_report::journal::RunDir;
use eval_report::run_page::Against;
use eval_support::untrusted::one_line;
use eval_support::words::count;

use self::rescored::rescored;
#[cfg(not(feature = "store"))]
use crate::features::lacking;
use crate::files::locked;
use crate::output::{CommandError, read, unreadable};
#[cfg(feature = "store")]
use crate::recorded::new_root;
use crate::recorded::{DOUBTFUL_RUN, LoadedRun, RunResults, WhichRun, near, own_runs, root, run_of_suspects};
#[cfg(feature = "store")]
use crate::store::{StoreArg, fetch_run, runtime};

/// The baseline of a project, if no other is named.
pub(crate) const BASELINE: &str = "evalset-baseline.jsonl";

/// Refuses a run of suspects. Only failing cases ran in it, so alone it is no sample of the build.
pub(crate) fn refuse_suspects(loaded: &LoadedRun) -> Result<(), CommandError> {
    let Some((id, run)) = loaded.run.ids.iter().find_map(|id| Some((id, run_of_suspects(id)?))) else {
        return Ok(());
    };
    let message =
        format!("in `{}` suspects ran again: they count only for a gate of their run", one_line(id));
    Err(CommandError::new(message, format!("name the run that they were suspects of: `{}`", one_line(run))))
}

/// The runs of this project, the last one first, without runs of suspects.
pub(crate) fn runs_of_builds() -> Result<Vec<RunDir>, CommandError> {
    let root = root();
    let (mut runs, _) = own_runs(&root).map_err(|error| unreadable(&root, &error))?;
    runs.retain(|run| run_of_suspects(&run.id).is_none());
    Ok(runs)
}

/// The last run. It was not named, so each doubt about it counts.
pub(crate) fn last_run() -> Result<LoadedRun, CommandError> {
    let last = WhichRun::default().load()?;
    // A variable may name it.
    refuse_suspects(&last)?;
    Ok(last)
}

/// The baseline: this file, else the file in the current folder or the nearest folder above that has one. Above the folder of the
/// project, sets have other names.
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

/// The tracked files that differ from the commit, but for what running cases writes (recordings of judges, recorded calls of models)
/// and for the baseline, which may have another name; `None` if git does not tell.
pub(crate) fn changed_by_hand(baseline: Option<&Path>) -> Option<Vec<String>> {
    let named = baseline.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let mut changed = changed_files()?;
    changed.retain(|file| {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        let is_of_models = folder.split('/').any(|part| part.ends_with(MODELS_SUFFIX));
        let is_baseline = name == BASELINE || Some(name) == named.as_deref();
        !is_baseline && !is_of_models && !name.ends_with(RECORDING_SUFFIX)
    });
    Some(changed)
}

/// `2 tracked files differ`.
pub(crate) fn differ(files: usize) -> String {
    format!("{} {}", count(files, "tracked file"), if files == 1 { "differs" } else { "differ" })
}

/// The reasons why a run is not complete; empty if it is. `partial` says that tests were left out on purpose.
pub(crate) fn why_incomplete(loaded: &LoadedRun, partial: bool) -> Result<Vec<String>, CommandError> {
    Ok(results(loaded, partial)?.why_incomplete())
}

/// One of these reasons behind its run: `is not complete: ..`, or that it may be another run than is meant.
pub(crate) fn not_complete(reason: &str) -> String {
    match reason.strip_prefix(DOUBTFUL_RUN).and_then(|rest| rest.strip_prefix(": ")) {
        Some(doubt) => format!("may not be the one that is meant: {doubt}"),
        None => format!("is not complete: {reason}"),
    }
}

/// A side, with the run that it is of, so that its cases can be scored again.
pub(crate) struct NamedSide {
    side: Side,
    run: Option<LoadedRun>,
}

impl NamedSide {
    /// A baseline. `shown` names its file.
    pub(crate) fn of_baseline(shown: &str, cases: Baseline) -> Self {
        Self { side: Side::of_baseline(format!("baseline {}", one_line(shown)), cases), run: None }
    }

    /// A run that is not one of suspects.
    pub(crate) fn of_run(run: LoadedRun) -> Result<Self, CommandError> {
        refuse_suspects(&run)?;
        Ok(Self { side: Side::of_loaded(&run), run: Some(run) })
    }

    /// The side as it was recorded.
    pub(crate) fn recorded(self) -> Side {
        self.side
    }

    /// The side before `now`. A case of a run that expects something else now is scored again. A baseline has no transcripts, so its
    /// cases stay as they are.
    pub(crate) fn before(self, now: &Baseline) -> Result<Side, CommandError> {
        match &self.run {
            Some(run) => rescored(self.side, run, now),
            None => Ok(self.side),
        }
    }
}

/// The side that is named: a run in a store, the file of a baseline, else the id or the folder of a run.
pub(crate) fn side(name: &str) -> Result<NamedSide, CommandError> {
    if let Some(stored) = stored(name)? {
        return Ok(stored);
    }
    let path = Path::new(name);
    if path.is_file() {
        return Ok(NamedSide::of_baseline(name, read_baseline(path)?));
    }
    if is_like_a_file(path) {
        let help =
            "name the file of a baseline, or the id of a run: `cargo evalset report` shows the last one";
        return Err(CommandError::new(format!("there is no file `{}`", one_line(name)), help));
    }
    NamedSide::of_run(WhichRun::named(Some(name.to_owned())).load()?)
}

/// The run of a URL with its id: `gs://my-evals#2026-11-22T02-31-07-4f1c`. Without an id it is the one that was stored last. `None` for what
/// is no URL.
#[cfg(feature = "store")]
fn stored(name: &str) -> Result<Option<NamedSide>, CommandError> {
    let (url, id) = match name.rsplit_once('#') {
        Some((url, id)) => (url, Some(id)),
        None => (name, None),
    };
    if !url.contains("://") {
        return Ok(None);
    }
    let store = StoreArg::from(url.to_owned()).open_to_read()?;
    let fetched = runtime()?.block_on(fetch_run(&store, id, &new_root()))?;
    let loaded = WhichRun::named(id.map(str::to_owned)).fetched(fetched.folder).load()?;
    let mut stored = NamedSide::of_run(loaded)?;
    stored.side.name += &format!(" of {}", store.shown());
    Ok(Some(stored))
}

/// A URL, of which this build can read none.
#[cfg(not(feature = "store"))]
fn stored(name: &str) -> Result<Option<NamedSide>, CommandError> {
    if name.contains("://") { Err(lacking("a run in a store", "store")) } else { Ok(None) }
}

/// Whether a name cannot be meant as the id or the folder of a run.
fn is_like_a_file(path: &Path) -> bool {
    !path.exists() && path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json")
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

/// Changes the baseline in a file, which no other process of this program writes meanwhile. Without a file, or with nothing in it, the
/// baseline is empty.
pub(crate) fn change_baseline<T>(
    path: &Path,
    change: impl FnOnce(&mut Baseline) -> T,
) -> Result<T, CommandError> {
    locked(path, |bytes| {
        let bytes = bytes.unwrap_or_default();
        let mut baseline =
            if bytes.trim_ascii().is_empty() { Baseline::default() } else { parsed(path, bytes)? };
        let result = change(&mut baseline);
        let text = baseline.text().map_err(|error| {
            CommandError::new(format!("cannot write JSON: {error}"), "report this as a bug")
        })?;
        Ok((Some(text), result))
    })
}
