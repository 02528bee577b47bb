//! The two sides of a comparison: the file of a baseline, or a recorded run.

use std::fs;
use std::io;
use std::path::Path;

use eval_report::baseline::{Baseline, measure};
use eval_support::untrusted::one_line;

use crate::files::write;
use crate::output::{CommandError, read};
use crate::recorded::{LoadedRun, RunResults, WhichRun};

/// The baseline of a project, if no other is named.
pub(crate) const BASELINE: &str = "evalset-baseline.jsonl";

/// What is between the id of a run and the number of a round in which its suspects ran again.
const SUSPECTS: &str = "-suspects-";

/// The id of the test run in which suspects of a run ran again.
pub(crate) fn id_of_suspects(run: &str, round: usize) -> String {
    format!("{run}{SUSPECTS}{round}")
}

/// The run whose suspects ran again in this one; `None` for every other run. Only a gate counts their runs: they ran because they
/// failed.
pub(crate) fn run_of_suspects(id: &str) -> Option<&str> {
    id.split_once(SUSPECTS).map(|(run, _)| run)
}

/// The runs of each case on one side.
pub(crate) struct Side {
    pub(crate) cases: Baseline,
    /// Its name for people.
    pub(crate) name: String,
    /// Reasons why they may not be all runs of their build.
    pub(crate) doubts: Vec<String>,
}

impl Side {
    /// The side that is named: the file of a baseline, else the id or the folder of a run.
    pub(crate) fn named(name: &str) -> Result<Self, CommandError> {
        let path = Path::new(name);
        if path.is_file() {
            let name = format!("baseline {}", one_line(name));
            return Ok(Self { cases: read_baseline(path)?, name, doubts: Vec::new() });
        }
        let loaded = WhichRun::named(Some(name.to_owned())).load()?;
        Self::of_run(&loaded, false)
    }

    /// A recorded run. `partial` says that tests were left out on purpose.
    pub(crate) fn of_run(loaded: &LoadedRun, partial: bool) -> Result<Self, CommandError> {
        let doubts = results(loaded, partial)?.problems.iter().map(|problem| problem.shown()).collect();
        let name = format!("run {}", loaded.name());
        Ok(Self { cases: measure(&[loaded], None).cases, name, doubts })
    }
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

/// The baseline in a file; an empty one if there is no file yet.
pub(crate) fn baseline_or_new(path: &Path) -> Result<Baseline, CommandError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Baseline::default()),
        _ => read_baseline(path),
    }
}

pub(crate) fn write_baseline(path: &Path, baseline: &Baseline) -> Result<(), CommandError> {
    let text = baseline
        .text()
        .map_err(|error| CommandError::new(format!("cannot write JSON: {error}"), "report this as a bug"))?;
    write(path, &text)
}
