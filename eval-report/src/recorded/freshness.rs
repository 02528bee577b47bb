//! Doubts that an unnamed run is the run that is meant: another CI job, newer test binaries, edited sets.

use std::collections::{BTreeMap, HashSet};
use std::env;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use eval_core::journal::{Head, JOB_VARIABLES, Started};
use eval_support::untrusted::one_line;

use super::cases::{Compared, added, compared, path_of};
use crate::journal::RecordedRun;

#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub began: Option<SystemTime>,
    pub built: Option<SystemTime>,
}

impl Times {
    pub(super) fn new(run: &RecordedRun) -> Self {
        Self {
            began: run.processes.iter().map(|head| head.started).min(),
            built: run.processes.iter().filter(|head| holds_tests(head)).filter_map(|head| head.built).max(),
        }
    }
}

/// Doubts about a run that was not named: another job, or other binaries. Empty if there is no sign of these.
pub(super) fn doubts(run: &RecordedRun) -> Vec<String> {
    let heads = counting(run);
    let job = other_job(&heads, |name| env::var(name).ok().filter(|value| !value.is_empty()));
    job.into_iter().chain(rebuilt(&heads)).collect()
}

/// The processes with an attempt that counts. A process whose tests all ran again does not matter.
fn counting(run: &RecordedRun) -> Vec<&Head> {
    let mut heads: Vec<&Arc<Head>> = run.tests.iter().filter_map(|test| Some(&test.last()?.head)).collect();
    heads.sort_unstable_by_key(|head| Arc::as_ptr(head));
    heads.dedup_by_key(|head| Arc::as_ptr(head));
    heads.into_iter().map(|head| &**head).collect()
}

/// The doubt that another CI job recorded the run: a variable has another value in this job.
fn other_job(heads: &[&Head], here: impl Fn(&str) -> Option<String>) -> Option<String> {
    JOB_VARIABLES.iter().find_map(|name| {
        let here = here(name)?;
        let other = heads.iter().find(|head| head.env.get(*name) != Some(&here))?;
        let there =
            other.env.get(*name).map_or("not set".to_owned(), |value| format!("`{}`", one_line(value)));
        Some(format!("another CI job recorded the run: `{name}` is `{}`, and was {there}", one_line(&here)))
    })
}

/// Whether the program of a process holds tests or an agent. The program of `cargo evalset run` holds neither. Its other
/// name may be a test's too, and no test can be run again by options.
fn holds_tests(head: &Head) -> bool {
    match head.binary.as_deref() {
        Some("cargo-evalset") => false,
        Some("evalset") => head.again.is_none(),
        _ => true,
    }
}

fn rebuilt(heads: &[&Head]) -> Option<String> {
    let mut programs: BTreeMap<&str, SystemTime> = BTreeMap::new();
    let of_tests = heads.iter().filter(|head| holds_tests(head));
    for (program, built) in of_tests.filter_map(|head| Some((head.program.as_deref()?, head.built?))) {
        let oldest = programs.entry(program).or_insert(built);
        *oldest = built.min(*oldest);
    }
    programs.into_iter().find_map(|(program, built)| {
        let now = newest(Path::new(program))?;
        (now > built + TIME_TOLERANCE).then(|| {
            let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
            format!("the test binary `{}` was built again after the run", one_line(&name))
        })
    })
}

/// Times that differ by less are equal: a journal holds milliseconds, and some file systems seconds.
const TIME_TOLERANCE: Duration = Duration::from_secs(2);

/// The time of a program's file or, if that is gone, of the newest program that cargo built in its place.
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

/// The sets that were edited or deleted after the run, each with its cases that ran.
///
/// An old file is no proof that a set is unchanged: `mv`, `cp -p` and `rsync` keep its time.
fn edited_sets(run: &RecordedRun) -> Vec<(SetOfRun<'_>, Vec<&Started>)> {
    let mut sets: BTreeMap<SetOfRun<'_>, Vec<&Started>> = BTreeMap::new();
    for attempt in run.tests.iter().flat_map(|test| &test.attempts) {
        let started = &attempt.started;
        if let Some(file) = started.file.as_deref() {
            sets.entry((file, started.set_file.as_deref())).or_default().push(started);
        }
    }
    let is_edited = |((file, set_file), ran): &(SetOfRun<'_>, Vec<&Started>)| {
        // On another machine there may be no set to compare with.
        let Some(path) = path_of(file, *set_file) else { return was_deleted(run, (file, *set_file)) };
        let is_younger = || {
            let began = ran.iter().map(|started| started.at).min();
            fs::metadata(path).and_then(|found| found.modified()).ok() > began
        };
        match compared(file, *set_file, ran) {
            Compared::Same => false,
            Compared::HasMore => {
                is_younger() || is_listed(run, ran) && !added(file, *set_file, ran, run).is_empty()
            }
            Compared::Differs => true,
        }
    };
    sets.into_iter().filter(is_edited).collect()
}

/// Whether a set was deleted: its folder exists without it, in a workspace of the run around this folder.
fn was_deleted(run: &RecordedRun, (file, set_file): SetOfRun<'_>) -> bool {
    let here = env::current_dir().unwrap_or_default();
    let mut workspaces =
        run.processes.iter().filter_map(|head| fs::canonicalize(head.workspace.as_ref()?).ok());
    workspaces.any(|workspace| {
        let mut files = [Some(file), set_file].into_iter().flatten().map(|file| workspace.join(file));
        here.starts_with(&workspace) && files.any(|file| file.parent().is_some_and(Path::is_dir))
    })
}

/// Whether the journal lists the tests of the set, so that tests which were left out are known.
fn is_listed(run: &RecordedRun, ran: &[&Started]) -> bool {
    let listed = run.listings.iter().flat_map(|listing| &listing.sets).flat_map(|set| &set.tests);
    let names: HashSet<&str> = listed.map(String::as_str).collect();
    ran.iter().all(|started| names.contains(&*started.name))
}

/// The file of a set as tests name it, and relative to its package.
type SetOfRun<'r> = (&'r str, Option<&'r str>);

pub(super) fn edited(run: &RecordedRun) -> Option<String> {
    let mut edited: Vec<SetOfRun<'_>> = edited_sets(run).into_iter().map(|(set, _)| set).collect();
    edited.dedup_by_key(|(file, _)| *file);
    let (first, set_file) = edited.first()?;
    let change = if path_of(first, *set_file).is_some() { "was written" } else { "was deleted" };
    let more = match edited.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!("`{}`{more} {change} after the run", one_line(first)))
}

/// A sentence for each case that a set holds now, and that neither ran nor was left out.
pub fn added_cases(run: &RecordedRun) -> Vec<String> {
    let sets = edited_sets(run).into_iter();
    sets.flat_map(|((file, set_file), ran)| {
        let ids = added(file, set_file, &ran, run).into_iter();
        ids.map(move |id| {
            format!("`{}` holds `{}` now, which the run does not know of", one_line(file), one_line(&id))
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use eval_core::journal::{SCHEMA, sealed_line};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_job_is_told_by_each_of_its_variables() {
        let run = |value: Option<&str>| {
            let env = value.map_or_else(|| json!({}), |value| json!({ "GITHUB_RUN_ID": value }));
            let head = json!({
                "record": "head", "schema": SCHEMA, "evalset": "0", "run": "r", "pid": 1,
                "started": "2026-11-22T02:31:07.250Z", "env": env,
            });
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("a.jsonl"), sealed_line(&head, 1)).expect("a file");
            RecordedRun::read(folder.path()).expect("a run")
        };
        let other_job = |run: RecordedRun, here: fn(&str) -> Option<String>| {
            other_job(&run.processes.iter().map(|head| &**head).collect::<Vec<_>>(), here)
        };
        let job: fn(&str) -> Option<String> = |name| (name == "GITHUB_RUN_ID").then(|| "7".to_owned());
        assert_eq!(other_job(run(Some("7")), job), None);
        assert_eq!(other_job(run(Some("6")), |_| None), None, "nobody says that this is a job");
        let doubt = "another CI job recorded the run: `GITHUB_RUN_ID` is `7`, and was ";
        assert_eq!(other_job(run(Some("6")), job), Some(format!("{doubt}`6`")));
        assert_eq!(other_job(run(None), job), Some(format!("{doubt}not set")));
    }

    fn head_of(program: &Path, binary: &str, built: SystemTime) -> Head {
        let mut head = Head::unwritten(SystemTime::UNIX_EPOCH);
        head.program = program.to_str().map(str::to_owned);
        head.binary = Some(binary.to_owned());
        head.built = Some(built);
        head
    }

    #[test]
    fn a_binary_is_rebuilt_if_it_or_one_of_another_hash_is_younger() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let write = |name: &str, seconds| {
            let path = folder.path().join(format!("{name}{}", env::consts::EXE_SUFFIX));
            fs::write(&path, "").expect("a file");
            fs::File::options()
                .append(true)
                .open(&path)
                .and_then(|file| file.set_modified(at(seconds)))
                .expect("a time");
            path
        };
        let rebuilt = |program: &Path, binary: &str, built| rebuilt(&[&head_of(program, binary, at(built))]);
        let evals = write("evals-0123", 1000);
        assert_eq!(rebuilt(&evals, "evals", 1000), None);
        let tolerance = TIME_TOLERANCE.as_secs();
        assert_eq!(rebuilt(&evals, "evals", 1000 - tolerance), None, "clocks of files are coarse");
        let said = rebuilt(&evals, "evals", 999 - tolerance).expect("it is younger");
        assert!(
            said.starts_with("the test binary `evals-0123")
                && said.ends_with("` was built again after the run"),
            "{said}"
        );
        assert_eq!(rebuilt(&evals, "cargo-evalset", 1), None, "it holds no tests");
        // The binary is gone, and cargo built it with another hash.
        let gone = folder.path().join(format!("smoke-4567{}", env::consts::EXE_SUFFIX));
        assert_eq!(rebuilt(&gone, "smoke", 1), None, "another binary is younger");
        write("smoke-89ab.d", 5000);
        write("smoke_more-89ab", 5000);
        assert_eq!(rebuilt(&gone, "smoke", 1000), None, "neither is this binary");
        write("smoke-89ab", 1500);
        assert_eq!(rebuilt(&gone, "smoke", 1500), None);
        assert!(rebuilt(&gone, "smoke", 1000).is_some());
    }
}
