//! From the paths of a command line to files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};
use std::{fs, io};

use eval_format::{FindError, find_sets, is_glob, suggest};

use crate::answer::Refusal;

/// What a file is, as far as its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Set,
    Config,
    Session,
    /// What judges answered.
    Recording,
    /// Named on the command line, and by no name that tells.
    Unknown,
}

/// A file to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

impl Input {
    fn named(path: PathBuf) -> Self {
        Self { kind: kind_of(&path), path }
    }

    /// The path as messages show it: with `/` on any system, as globs and attributes have it.
    pub(crate) fn shown(&self) -> String {
        self.path.display().to_string().replace(MAIN_SEPARATOR, "/")
    }
}

/// The files that paths stand for, each once and in the order of the command line.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) files: Vec<Input>,
    /// Paths that stand for nothing.
    pub(crate) refusals: Vec<Refusal>,
}

/// The names under which ADK looks for a config.
const CONFIGS: [&str; 2] = ["test_config.json", "eval_config.json"];

const SESSION: &str = ".session.json";

const RECORDING: &str = ".judge.json";

/// What folders and globs stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What the attribute finds there.
    Sets,
    /// The configs, session files and recordings beside them too.
    Companions,
}

/// Finds the files that paths stand for; a file that is named is always one of them.
pub(crate) fn find(paths: &[PathBuf], scope: Scope) -> Inputs {
    let mut inputs = Inputs::default();
    let mut seen = BTreeSet::new();
    for path in paths {
        match files_of(path, scope) {
            Ok(files) => inputs.files.extend(files.into_iter().filter(|file| seen.insert(file.path.clone()))),
            Err(refusal) => inputs.refusals.push(refusal),
        }
    }
    inputs
}

fn files_of(path: &Path, scope: Scope) -> Result<Vec<Input>, Refusal> {
    let shown = path.display();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => match sets_in(path, ".") {
            Ok(sets) if sets.is_empty() => Err(Refusal::new(
                format!("the folder `{shown}` holds no eval sets"),
                "sets in a folder are named `*.evalset.json` or `*.test.json`; name other files one by one",
            )),
            Ok(sets) => Ok(in_folders(sets, scope)),
            Err(error) => Err(Refusal::new(
                format!("cannot search `{shown}`: {error}"),
                "let this user list its folders, or name those to search",
            )),
        },
        Ok(_) => Ok(vec![Input::named(without_dot(path))]),
        Err(error) if path.is_symlink() => Err(unreadable(path, &error)),
        // On Windows no name has a `*` in it.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename) => {
            match path.to_str().filter(|it| is_glob(it)) {
                Some(pattern) => matches_of(pattern, scope),
                None => Err(Refusal::new(format!("there is no file or folder `{shown}`"), nearest(path))),
            }
        }
        Err(error) => Err(unreadable(path, &error)),
    }
}

/// Why a file that is there cannot be looked at.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Refusal {
    let shown = path.display();
    match fs::read_link(path) {
        Ok(target) if error.kind() == io::ErrorKind::NotFound => Refusal::new(
            format!("`{shown}` is a link to `{}`, which leads nowhere", target.display()),
            "restore the file that it names, or remove the link",
        ),
        _ => {
            Refusal::new(format!("cannot read `{shown}`: {error}"), "let this user read it, or leave it out")
        }
    }
}

fn matches_of(pattern: &str, scope: Scope) -> Result<Vec<Input>, Refusal> {
    let path = Path::new(pattern);
    let is_fixed = |part: &Component<'_>| !part.as_os_str().to_str().is_some_and(is_glob);
    let base: PathBuf = path.components().take_while(is_fixed).collect();
    let rest: Vec<_> =
        path.components().skip_while(is_fixed).filter_map(|part| part.as_os_str().to_str()).collect();
    match sets_in(&base, &rest.join("/")) {
        Ok(sets) if sets.is_empty() => Err(Refusal::new(
            format!("no eval set matches `{pattern}`"),
            "configs, session files and recordings are never sets; `**` stands for any number of folders",
        )),
        Ok(sets) => Ok(in_folders(sets, scope)),
        Err(error) => Err(Refusal::new(error.to_string(), "a glob is made of `*`, `?`, `[..]` and `**`")),
    }
}

fn sets_in(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, FindError> {
    let folder = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    Ok(find_sets(folder, pattern)?.iter().map(|set| without_dot(&base.join(set))).collect())
}

/// The sets and what stands beside them, folder by folder.
fn in_folders(sets: Vec<PathBuf>, scope: Scope) -> Vec<Input> {
    let mut folders: BTreeMap<PathBuf, Vec<Input>> = BTreeMap::new();
    for set in sets {
        let folder = set.parent().unwrap_or(Path::new("")).to_path_buf();
        folders.entry(folder).or_default().push(Input { path: set, kind: Kind::Set });
    }
    for (folder, files) in folders.iter_mut().filter(|_| scope == Scope::Companions) {
        files.extend(
            names_in(folder).into_iter().map(|name| Input::named(folder.join(name))).filter(is_companion),
        );
        files.sort_by(|one, other| one.path.cmp(&other.path));
    }
    folders.into_values().flatten().collect()
}

fn is_companion(file: &Input) -> bool {
    let hidden = file.path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    matches!(file.kind, Kind::Config | Kind::Session | Kind::Recording) && !hidden && file.path.is_file()
}

/// The session files in a folder.
pub(crate) fn sessions_in(folder: &Path) -> Vec<String> {
    names_in(folder).into_iter().filter(|name| name.ends_with(SESSION)).collect()
}

/// The names in a folder, in order. What cannot be listed has been told of already, or stands beside a file that was
/// named.
fn names_in(folder: &Path) -> Vec<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

fn kind_of(path: &Path) -> Kind {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if CONFIGS.iter().any(|config| name.ends_with(config)) {
        Kind::Config
    } else if name.ends_with(SESSION) {
        Kind::Session
    } else if name.ends_with(RECORDING) {
        Kind::Recording
    } else if name.ends_with(".evalset.json") || name.ends_with(".test.json") {
        Kind::Set
    } else {
        Kind::Unknown
    }
}

/// The path as one writes it: `evals/a.json` for `./evals/a.json`.
fn without_dot(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// What stands near a path that does not exist.
fn nearest(path: &Path) -> String {
    let folder = path.parent().unwrap_or(Path::new(""));
    let names = names_in(folder);
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    match suggest(name, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{}`?", folder.join(meant).display()),
        None => "name files, folders, or globs in quotes such as `'evals/**/*.evalset.json'`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_file_is() {
        for (name, kind) in [
            ("evals/a.evalset.json", Kind::Set),
            ("a.test.json", Kind::Set),
            ("evals/test_config.json", Kind::Config),
            ("strict.eval_config.json", Kind::Config),
            ("trip.session.json", Kind::Session),
            ("trip.evalset.judge.json", Kind::Recording),
            ("a.json", Kind::Unknown),
            ("", Kind::Unknown),
        ] {
            assert_eq!(kind_of(Path::new(name)), kind, "{name}");
        }
    }

    #[test]
    fn paths_lose_their_dots_at_the_front_only() {
        for (path, expected) in [("./a/b", "a/b"), ("a/./b", "a/b"), ("../a", "../a"), ("/a", "/a")] {
            assert_eq!(without_dot(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
