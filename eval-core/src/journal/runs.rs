//! The runs in a folder such as `target/evalset`, which has a folder for each run.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use eval_format::Value;

use super::fields::fields;
use super::file_names::{LATEST, MARKER, is_journal};
use super::line::Line;
use super::revision::Revision;
use super::time;

/// The folder of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunDir {
    /// The id of the run: the name of the folder.
    pub id: String,
    /// The folder.
    pub path: PathBuf,
    /// The start of the run.
    pub started: SystemTime,
}

/// The runs in a folder such as `target/evalset`, the newest first.
///
/// A missing folder holds no runs. Folders that are not runs are skipped.
pub fn runs(folder: &Path) -> io::Result<Vec<RunDir>> {
    runs_named(folder, |_| true)
}

/// The runs whose ids match, the newest first. Files of other runs are not read: there may be thousands.
pub fn runs_named(folder: &Path, is_meant: impl Fn(&str) -> bool) -> io::Result<Vec<RunDir>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut runs = Vec::new();
    for entry in entries {
        // Another process may have removed it.
        let Ok(entry) = entry else { continue };
        if entry.file_name().to_str().is_some_and(&is_meant)
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Some(run) = run(&entry.path())
        {
            runs.push(run);
        }
    }
    runs.sort_by(|a, b| (b.started, &b.id).cmp(&(a.started, &a.id)));
    Ok(runs)
}

/// The id of the run that was joined last, if it is valid. A link is not followed.
pub fn latest_id(folder: &Path) -> Option<String> {
    let id = read_small(&folder.join(LATEST))?;
    Some(id.trim().to_owned()).filter(|id| is_id(id))
}

/// The text of one of our small files; `None` for a large file, a link or anything else.
pub fn read_small(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    (found.is_file() && found.len() < 4096).then(|| fs::read_to_string(path).ok()).flatten()
}

/// Whether this can be the id of a run: a plain name of a folder on every system, and not the name of our own file
/// beside the runs.
pub fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=MAX_ID_BYTES).contains(&id.len())
        && !id.starts_with(['.', '-'])
        && !id.ends_with('.')
        && !is_device(id)
        && id.bytes().all(is_plain)
        && !id.eq_ignore_ascii_case(LATEST)
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let numbered = |device: &str| {
        stem.strip_prefix(device)
            .is_some_and(|number| number.len() == 1 && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") || numbered("COM") || numbered("LPT")
}

pub(super) const MAX_ID_BYTES: usize = 100;

/// The rule of [`is_id`], in words.
pub fn id_rule() -> String {
    format!(
        "1 to {MAX_ID_BYTES} letters, digits, `-`, `_` and `.`, no `.` at the ends, no `-` at \
         the beginning, not `{LATEST}`, no device of Windows such as `con` or `aux.txt`"
    )
}

#[derive(PartialEq)]
struct Marker {
    run: String,
    started: SystemTime,
    revision: Option<String>,
    branch: Option<String>,
}

fields!(Marker { run, started } { revision, branch });

pub(super) fn marker(id: &str, started: SystemTime, revision: Option<&Revision>) -> String {
    let marker = Marker {
        run: id.to_owned(),
        started,
        revision: revision.map(|revision| revision.commit.clone()),
        branch: revision.and_then(|revision| revision.branch.clone()),
    };
    Line::of(&marker, Arc::default())
}

/// The owner of a run: the workspace and package of a process in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The folder of the workspace, or of the project of another language; `None` if it is not known.
    pub workspace: Option<PathBuf>,
    /// The package; `None` for a program outside of any.
    pub package: Option<String>,
}

/// The owners of a run, by the heads of its journals. Nextest makes a journal for each test, so only one
/// journal is read for each package and binary in the file names.
pub fn owners(run: &Path) -> BTreeSet<Owner> {
    let mut binaries = HashSet::new();
    let mut owners = BTreeSet::new();
    for entry in fs::read_dir(run).into_iter().flatten().flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        // After package and binary, the name has the process id and a nonce.
        let binary = stem.rsplitn(3, '-').nth(2).unwrap_or(&stem).to_owned();
        if is_journal(&path)
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && !binaries.contains(&binary)
        {
            // A file without a head names no owner; another file of the binary may.
            if let Some(owner) = owner(&path) {
                owners.insert(owner);
                binaries.insert(binary);
            }
        }
    }
    owners
}

fn owner(journal: &Path) -> Option<Owner> {
    let mut head = String::new();
    BufReader::new(File::open(journal).ok()?.take(MAX_HEAD_BYTES)).read_line(&mut head).ok()?;
    let head = Value::parse(&head).ok()?;
    if head["record"].as_str() != Some("head") {
        return None;
    }
    let text = |name: &str| head[name].as_str().map(str::to_owned);
    Some(Owner { workspace: text("workspace").map(PathBuf::from), package: text("package") })
}

/// The most bytes that are read for a head. Its length depends on the arguments of the process.
const MAX_HEAD_BYTES: u64 = 4 << 20;

fn run(path: &Path) -> Option<RunDir> {
    let marker = read_small(&path.join(MARKER))?;
    let begun =
        Value::parse(&marker).ok().and_then(|marker| marker["started"].as_str().and_then(time::parse));
    // An incomplete marker has no time: the run is as old as the file.
    let written = || fs::metadata(path.join(MARKER)).and_then(|marker| marker.modified()).ok();
    Some(RunDir {
        id: path.file_name()?.to_str()?.to_owned(),
        path: path.to_owned(),
        started: begun.or_else(written)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain_names() {
        for (id, plain) in [
            ("2026-11-22T02-31-07-1a2b3c4d", true),
            ("b64f1eef-a1b6-4f7e-8b4e-6f5d5d1c0d2e", true),
            ("pr.123_retry", true),
            ("", false),
            (".", false),
            ("..", false),
            (".hidden", false),
            ("dot.", false),
            ("a/b", false),
            ("a\\b", false),
            ("a b", false),
            ("\u{e9}", false),
            ("latest", false),
            ("Latest", false),
            ("latest-1", true),
            ("-rf", false),
            ("--help", false),
            ("CON", false),
            ("aux.txt", false),
            ("nul.tar.gz", false),
            ("com1", false),
            ("LPT9.log", false),
            ("console", true),
            ("com10", true),
            ("run...", false),
            ("a\u{0}", false),
        ] {
            assert_eq!(is_id(id), plain, "{id:?}");
        }
        assert!(is_id(&"x".repeat(MAX_ID_BYTES)) && !is_id(&"x".repeat(MAX_ID_BYTES + 1)));
    }

    #[test]
    fn a_missing_folder_holds_no_runs_and_a_file_is_an_error() {
        let temporary = tempfile::TempDir::new().unwrap();
        assert_eq!(runs(&temporary.path().join("missing")).unwrap(), []);
        let file = temporary.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(runs(&file).is_err());
    }

    #[test]
    fn runs_are_folders_with_a_marker_the_newest_first() {
        let temporary = tempfile::TempDir::new().unwrap();
        let folder = temporary.path();
        let begun = |hours| SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(hours);
        for (id, hours) in [("a", 1), ("c", 3), ("b", 2), ("d", 2)] {
            fs::create_dir(folder.join(id)).unwrap();
            fs::write(folder.join(id).join(MARKER), marker(id, begun(hours), None)).unwrap();
        }
        fs::create_dir(folder.join("empty")).unwrap();
        fs::write(folder.join("file"), "{}").unwrap();
        let found: Vec<_> =
            runs(folder).unwrap().into_iter().map(|run| (run.id, run.path, run.started)).collect();
        let run = |id: &str, hours| (id.to_owned(), folder.join(id), begun(hours));
        assert_eq!(found, [run("c", 3), run("d", 2), run("b", 2), run("a", 1)]);
        let named = runs_named(folder, |id| id == "b").unwrap();
        assert_eq!(named.into_iter().map(|run| run.id).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn a_run_is_of_the_packages_in_the_heads_of_its_journals() {
        let temporary = tempfile::TempDir::new().unwrap();
        let folder = temporary.path();
        let head = |package: &str| {
            format!("{{\"record\":\"head\",\"workspace\":\"/w\",\"package\":\"{package}\"}}\n")
        };
        for (name, text) in [
            ("a-evals-1-0.jsonl", ""),
            ("a-evals-2-0.jsonl", &head("a")),
            ("a-evals-3-0.jsonl", &head("c")),
            ("b-evals-1-0.jsonl", &(head("b") + "{}\n")),
            ("-cli-1-0.jsonl", "{\"record\":\"head\"}\n{}"),
            ("x-evals-1-0.jsonl", "{\"record\":\"started\",\"package\":\"x\"}\n"),
            ("y.txt", &head("y")),
            ("z-torn-1-0.jsonl", "{\"record\":\"he"),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        let found: Vec<_> = owners(folder)
            .into_iter()
            .map(|owner| (owner.workspace.map(|it| it.display().to_string()), owner.package))
            .collect();
        let of = |package: &str| (Some("/w".to_owned()), Some(package.to_owned()));
        let expected = if found.contains(&of("a")) { of("a") } else { of("c") };
        assert_eq!(
            found,
            [(None, None), expected, of("b")][..]
                .iter()
                .cloned()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect::<Vec<_>>()
        );
        assert!(owners(&folder.join("missing")).is_empty());
    }

    #[test]
    fn only_small_files_are_read() {
        let temporary = tempfile::TempDir::new().unwrap();
        let path = temporary.path().join("file");
        assert_eq!(read_small(&path), None);
        assert_eq!(read_small(temporary.path()), None, "a folder");
        for (length, is_read) in [(0, true), (4095, true), (4096, false), (5000, false)] {
            let text = "x".repeat(length);
            fs::write(&path, &text).unwrap();
            assert_eq!(read_small(&path), is_read.then_some(text), "{length}");
        }
    }
}
