//! The id of the run that a process belongs to.
//!
//! `EVALSET_RUN_ID` names it, else `NEXTEST_RUN_ID`. `cargo test` sets no such variable, but it is the parent process
//! of all its test binaries: they share the run that is named after that process. A program that cargo did not start is
//! a run of its own, since its parent may be a shell that lives for days.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use eval_support::hash::content_hash;
use eval_support::variables::{NEXTEST_RUN_ID, RUN_ID};

use super::runs::{MAX_ID_BYTES, id_rule, is_id, runs_named};
use super::time;

pub(super) fn of_this_process(folder: &Path) -> Result<String, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(named) = variable(RUN_ID) {
        let named = named.to_string_lossy().into_owned();
        return if is_id(&named) { Ok(named) } else { Err(unusable(&named)) };
    }
    let nextest = variable(NEXTEST_RUN_ID).and_then(|id| id.into_string().ok()).filter(|id| is_id(id));
    if let Some(id) = nextest {
        return Ok(id);
    }
    let parent = if variable("CARGO_MANIFEST_DIR").is_some() { parent() } else { None };
    Ok(parent.map_or_else(|| fresh(&myself()), |parent| shared(folder, &parent, SystemTime::now())))
}

fn unusable(id: &str) -> String {
    format!(
        "`{RUN_ID}` is `{}`; it names a folder on every system: {}",
        eval_support::message::cut(id, MAX_ID_BYTES),
        id_rule()
    )
}

#[derive(Debug)]
struct Process {
    identity: String,
    /// The time after a run began within which the identity is certainly the same process; `None` if it
    /// always is.
    good_for: Option<Duration>,
}

fn shared(folder: &Path, process: &Process, now: SystemTime) -> String {
    known(folder, process, now).unwrap_or_else(|| fresh(&process.identity))
}

fn known(folder: &Path, process: &Process, now: SystemTime) -> Option<String> {
    let hash = format!("-{}", hash(&process.identity));
    let is_its_own = |started: SystemTime| match process.good_for {
        Some(limit) => now.duration_since(started).is_ok_and(|age| age < limit),
        None => true,
    };
    // If the folder cannot be read, it cannot be written either, and the writer reports that.
    let runs = runs_named(folder, |id| id.ends_with(&hash)).unwrap_or_default();
    let known = runs.into_iter().find(|run| is_its_own(run.started));
    known.map(|run| run.id)
}

fn fresh(identity: &str) -> String {
    format!("{}-{}", time::in_name(SystemTime::now()), hash(identity))
}

fn hash(identity: &str) -> String {
    let hash = content_hash(identity.as_bytes());
    format!("{:08x}", (hash ^ (hash >> 32)) & 0xffff_ffff)
}

fn myself() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{} {}", std::process::id(), now.as_nanos())
}

/// The parent process, identified by its number and the time when it began.
#[cfg(target_os = "linux")]
fn parent() -> Option<Process> {
    let pid = std::os::unix::process::parent_id();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The time counts from the start of the system.
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let identity = format!("{pid} {} {}", start_ticks(&stat)?, boot.trim());
    Some(Process { identity, good_for: None })
}

/// The command line of the parent process if it is cargo or nextest. Empty for other parents, and if the
/// system does not tell.
pub(super) fn runner() -> Vec<String> {
    #[cfg(target_os = "linux")]
    {
        let pid = std::os::unix::process::parent_id();
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = line.strip_suffix(b"\0").unwrap_or(&line).split(|byte| *byte == 0);
        let words: Vec<String> = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let program = words.first().and_then(|word| Path::new(word).file_name()?.to_str());
        if matches!(program, Some("cargo" | "cargo-nextest")) {
            return words;
        }
    }
    Vec::new()
}

/// The field `starttime` of `/proc/<pid>/stat`. The second field is the name of the program in brackets, which may
/// contain brackets and blanks.
#[cfg(target_os = "linux")]
fn start_ticks(stat: &str) -> Option<&str> {
    stat.rsplit_once(") ")?.1.split(' ').nth(19)
}

/// The parent process, identified by its number. Systems reuse these numbers, so it is good for half a day.
#[cfg(all(unix, not(target_os = "linux")))]
fn parent() -> Option<Process> {
    let identity = std::os::unix::process::parent_id().to_string();
    Some(Process { identity, good_for: Some(Duration::from_hours(12)) })
}

/// The system does not tell the parent. Each binary is a run of its own unless `EVALSET_RUN_ID` is set.
#[cfg(not(unix))]
fn parent() -> Option<Process> {
    None
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::folder;
    use super::*;

    fn process(identity: &str, good_for: Option<Duration>) -> Process {
        Process { identity: identity.to_owned(), good_for }
    }

    #[test]
    fn children_of_one_process_share_a_run_and_others_do_not() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        let (cargo, other) = (process("12 345", None), process("12 346", None));
        let now = SystemTime::now();
        let first = shared(folder, &cargo, now);
        folder::open(folder, &first).unwrap();
        assert_eq!(shared(folder, &cargo, now), first);
        assert_eq!(shared(folder, &cargo, now + Duration::from_hours(1000)), first);
        assert_ne!(shared(folder, &other, now), first);
    }

    #[test]
    fn a_number_alone_tells_a_process_for_a_while() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        let cargo = process("12", Some(Duration::from_hours(12)));
        let now = SystemTime::now();
        let first = shared(folder, &cargo, now);
        folder::open(folder, &first).unwrap();
        assert_eq!(known(folder, &cargo, now + Duration::from_hours(1)), Some(first));
        let begun = super::super::runs::runs(folder).unwrap()[0].started;
        assert!(known(folder, &cargo, begun + Duration::from_hours(12) - Duration::from_millis(1)).is_some());
        assert_eq!(known(folder, &cargo, begun + Duration::from_hours(12)), None);
        assert_eq!(known(folder, &cargo, now + Duration::from_hours(13)), None);
    }

    #[test]
    fn ids_sort_by_time_and_are_plain() {
        let id = fresh("x");
        assert!(is_id(&id), "{id}");
        assert!(*id > *"2026-01-01" && *id < *"9999", "{id}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_start_of_a_process_is_found_behind_any_name() {
        let rest = "S 1 2 2 0 -1 4194560 9 0 0 0 1 0 0 0 20 0 1 0 987654 3 4";
        for name in ["(cargo)", "(a b) c)", "(x) S 1 2)"] {
            assert_eq!(start_ticks(&format!("12 {name} {rest}")), Some("987654"), "{name}");
        }
        assert_eq!(start_ticks("12"), None);
        assert!(parent().is_some_and(|parent| parent.good_for.is_none()));
    }

    #[test]
    fn a_process_names_its_run_in_the_same_way_each_time() {
        let temporary = TempDir::new().unwrap();
        let folder = temporary.path();
        let first = of_this_process(folder).unwrap();
        assert!(is_id(&first), "{first}");
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if is_set(RUN_ID) || is_set(NEXTEST_RUN_ID) {
            return;
        }
        assert!(*first > *"2026-01-01" && *first < *"9999", "{first}");
        folder::open(folder, &first).unwrap();
        if is_set("CARGO_MANIFEST_DIR") && parent().is_some() {
            assert_eq!(of_this_process(folder), Ok(first), "cargo is the parent of all its test binaries");
        }
    }

    #[test]
    fn an_id_that_names_no_folder_is_quoted() {
        let said = unusable("../etc");
        assert!(
            said.starts_with("`EVALSET_RUN_ID` is `../etc`; it names a folder on every system"),
            "{said}"
        );
    }

    #[test]
    fn a_program_that_cargo_did_not_start_is_known_by_its_number_and_the_time() {
        let (number, time) = (std::process::id().to_string(), SystemTime::now());
        let found = myself();
        let (found_number, nanos) = found.split_once(' ').unwrap();
        let since = time.duration_since(UNIX_EPOCH).unwrap().as_nanos();
        assert!(found_number == number && nanos.parse::<u128>().unwrap() >= since, "{found}");
    }
}
