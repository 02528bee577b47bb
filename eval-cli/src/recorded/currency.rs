//! Whether a run is the one that somebody who does not name it means: of this CI job, and of the tests that are there now.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use eval_core::journal::{JOB_VARIABLES, RecordedRun};

use crate::files::path_of;
use crate::output::foreign::one_line;

/// When a run began, and when its test binaries were built.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) began: Option<SystemTime>,
    pub(crate) built: Option<SystemTime>,
}

impl Times {
    pub(super) fn of(run: &RecordedRun) -> Self {
        Self {
            began: run.processes.iter().map(|head| head.started).min(),
            built: run.processes.iter().filter_map(|head| head.built).max(),
        }
    }
}

/// Why a run may be another one than is meant. Empty if nothing tells.
pub(super) fn doubts(run: &RecordedRun) -> Vec<String> {
    let job = other_job(run, |name| env::var(name).ok().filter(|value| !value.is_empty()));
    job.into_iter().chain(rebuilt(run)).chain(edited(run)).collect()
}

/// A variable that has another value in this job than in the one that recorded the run.
fn other_job(run: &RecordedRun, here: impl Fn(&str) -> Option<String>) -> Option<String> {
    JOB_VARIABLES.iter().find_map(|name| {
        let here = here(name)?;
        let other = run.processes.iter().find(|head| head.env.get(*name) != Some(&here))?;
        let there =
            other.env.get(*name).map_or("not set".to_owned(), |value| format!("`{}`", one_line(value)));
        Some(format!("another CI job recorded the run: `{name}` is `{}`, and was {there}", one_line(&here)))
    })
}

/// A test binary that was built after the run.
fn rebuilt(run: &RecordedRun) -> Option<String> {
    let programs: BTreeMap<_, _> =
        run.processes.iter().filter_map(|head| Some((head.program.as_deref()?, head.built?))).collect();
    programs.into_iter().find_map(|(program, built)| {
        let now = newest(Path::new(program))?;
        (now > built + TOLERANCE).then(|| {
            let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
            format!("the test binary `{}` was built again after the run", one_line(&name))
        })
    })
}

/// Times that differ by less are equal: a journal holds milliseconds, and some file systems seconds.
const TOLERANCE: Duration = Duration::from_secs(2);

/// When a program was built: the file itself, or if it is gone, the newest that cargo built in its place.
fn newest(program: &Path) -> Option<SystemTime> {
    if let Ok(found) = fs::metadata(program) {
        return found.modified().ok();
    }
    let (name, _) = program.file_name()?.to_str()?.rsplit_once('-')?;
    let beside = fs::read_dir(program.parent()?).ok()?.flatten().filter(|entry| {
        let file = entry.file_name();
        let stem = file.to_str().filter(|file| file.ends_with(env::consts::EXE_SUFFIX));
        let other = stem.and_then(|stem| stem.strip_suffix(env::consts::EXE_SUFFIX)?.rsplit_once('-'));
        other.is_some_and(|(other, hash)| other == name && !hash.contains('.'))
    });
    beside.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max()
}

/// A set that was written after one of its tests began.
fn edited(run: &RecordedRun) -> Option<String> {
    let mut began: BTreeMap<(&str, Option<&str>), SystemTime> = BTreeMap::new();
    for attempt in run.tests.iter().flat_map(|test| &test.attempts) {
        let started = &attempt.started;
        if let Some(file) = started.file.as_deref() {
            let first = began.entry((file, started.set_file.as_deref())).or_insert(started.at);
            *first = started.at.min(*first);
        }
    }
    let written = |(file, set_file)| fs::metadata(path_of(file, set_file)?).ok()?.modified().ok();
    let later = began.into_iter().filter(|(file, began)| written(*file).is_some_and(|at| at > *began));
    let edited: BTreeSet<&str> = later.map(|((file, _), _)| file).collect();
    let first = edited.first()?;
    let more = match edited.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!("`{}`{more} was written after the run", one_line(first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_told_by_each_of_its_variables() {
        let run = |value: Option<&str>| {
            let head = value.map_or("{}".to_owned(), |value| format!("{{\"GITHUB_RUN_ID\":{value:?}}}"));
            let head = format!(
                "{{\"record\":\"head\",\"schema\":1,\"evalset\":\"0\",\"run\":\"r\",\"pid\":1,\"started\":\"2026-11-22T02:31:07.250Z\",\"env\":{head}}}\n"
            );
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("a.jsonl"), head).expect("a file");
            RecordedRun::read(folder.path()).expect("a run")
        };
        let job = |name: &str| (name == "GITHUB_RUN_ID").then(|| "7".to_owned());
        assert_eq!(other_job(&run(Some("7")), job), None);
        assert_eq!(other_job(&run(Some("6")), |_| None), None, "nobody says that this is a job");
        let doubt = "another CI job recorded the run: `GITHUB_RUN_ID` is `7`, and was ";
        assert_eq!(other_job(&run(Some("6")), job), Some(format!("{doubt}`6`")));
        assert_eq!(other_job(&run(None), job), Some(format!("{doubt}not set")));
    }
}
