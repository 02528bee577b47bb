//! Files by the paths of a command line.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};
use std::{fs, io};

use eval_format::conventions::{FileKind, SET_NAMES, is_passed_over};
use eval_format::find::{FindError, find_sets, is_glob};
use eval_support::spelling::suggest;

use crate::output::{CommandError, unreadable};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    /// The kind of the file, by its name. `None` for a file that was named on the command line and whose name does not tell.
    pub(crate) kind: Option<FileKind>,
    /// The folder that was searched; `None` for a file that was named on the command line.
    pub(crate) top: Option<PathBuf>,
}

impl Input {
    fn named(path: PathBuf) -> Self {
        let name = path.file_name().and_then(OsStr::to_str);
        Self { kind: name.and_then(FileKind::from_name), path, top: None }
    }

    /// The path as messages show it: with `/` on any system, as in globs and attributes.
    pub(crate) fn shown(&self) -> String {
        self.path.display().to_string().replace(MAIN_SEPARATOR, "/")
    }
}

/// The files that paths name, each once and in the order of the command line.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) files: Vec<Input>,
    /// An error for each path that names no file.
    pub(crate) errors: Vec<CommandError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The sets, as the attribute finds them.
    Sets,
    /// The sets, and the configs, session files and recordings beside them.
    Companions,
}

/// Finds the files that paths name. A file that is named itself is always found.
pub(crate) fn find_files(paths: &[PathBuf], scope: Scope) -> Inputs {
    let mut inputs = Inputs::default();
    let mut seen = BTreeSet::new();
    for path in paths {
        match files_of(path, scope) {
            Ok(files) => inputs.files.extend(files.into_iter().filter(|file| seen.insert(file.path.clone()))),
            Err(error) => inputs.errors.push(error),
        }
    }
    inputs
}

fn files_of(path: &Path, scope: Scope) -> Result<Vec<Input>, CommandError> {
    let shown = path.display();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => match sets_in(path, ".") {
            Ok(sets) if sets.is_empty() => Err(CommandError::new(
                format!("the folder `{shown}` holds no eval sets"),
                format!("sets in a folder are named {SET_NAMES}; name other files one by one"),
            )),
            Ok(sets) => Ok(in_folders(sets, path, scope)),
            Err(error) => Err(CommandError::new(format!("cannot search `{shown}`: {error}"), error.help())),
        },
        Ok(_) => Ok(vec![Input::named(without_dot(path))]),
        Err(error) if path.is_symlink() => Err(unreadable(path, &error)),
        // On Windows a glob is an invalid file name: no name can contain a `*`.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename) => {
            match path.to_str().filter(|it| is_glob(it)) {
                Some(pattern) => matches_of(pattern, scope),
                None => {
                    Err(CommandError::new(format!("there is no file or folder `{shown}`"), nearest(path)))
                }
            }
        }
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn matches_of(pattern: &str, scope: Scope) -> Result<Vec<Input>, CommandError> {
    let path = Path::new(pattern);
    let is_fixed = |part: &Component<'_>| !part.as_os_str().to_str().is_some_and(is_glob);
    let base: PathBuf = path.components().take_while(is_fixed).collect();
    let rest: Vec<_> =
        path.components().skip_while(is_fixed).filter_map(|part| part.as_os_str().to_str()).collect();
    match sets_in(&base, &rest.join("/")) {
        Ok(sets) if sets.is_empty() => Err(CommandError::new(
            format!("no eval set matches `{pattern}`"),
            "configs, session files and recordings are never sets; `**` matches any number of folders",
        )),
        Ok(sets) => Ok(in_folders(sets, &base, scope)),
        Err(error) => Err(CommandError::new(error.to_string(), error.help())),
    }
}

fn sets_in(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, FindError> {
    let folder = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    Ok(find_sets(folder, pattern)?.iter().map(|set| without_dot(&base.join(set))).collect())
}

fn in_folders(sets: Vec<PathBuf>, top: &Path, scope: Scope) -> Vec<Input> {
    let mut folders: BTreeMap<PathBuf, Vec<Input>> = BTreeMap::new();
    for set in sets {
        let folder = set.parent().unwrap_or(Path::new("")).to_path_buf();
        let input = Input { path: set, kind: Some(FileKind::Set), top: Some(without_dot(top)) };
        folders.entry(folder).or_default().push(input);
    }
    for (folder, files) in folders.iter_mut().filter(|_| scope == Scope::Companions) {
        files.extend(companions_in(folder));
        files.sort_by(|one, other| one.path.cmp(&other.path));
    }
    folders.into_values().flatten().collect()
}

fn companions_in(folder: &Path) -> impl Iterator<Item = Input> {
    let names = names_in(folder).into_iter().filter(|name| !is_passed_over(name));
    let files = names.map(|name| Input::named(folder.join(name)));
    files.filter(|file| {
        matches!(
            file.kind,
            Some(FileKind::Config | FileKind::Session | FileKind::Recording | FileKind::ToolList)
        ) && file.path.is_file()
    })
}

/// The path without parts that are `.`: `evals/a.json` for `./evals/a.json`.
fn without_dot(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

fn nearest(path: &Path) -> String {
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let names = names_in(folder);
    match suggest(name, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{}`?", folder.join(meant).display()),
        None => "name files, folders, or globs in quotes such as `'evals/**/*.evalset.json'`".to_owned(),
    }
}

/// The names in a folder, in alphabetical order, without those that are not UTF-8. A folder that cannot be listed has
/// none: its error was reported when the folder was searched, or a file in it was named on the command line.
pub(super) fn names_in(folder: &Path) -> Vec<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

pub(crate) fn sessions_in(folder: &Path) -> Vec<String> {
    names_in(folder).into_iter().filter(|name| FileKind::from_name(name) == Some(FileKind::Session)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_dots_at_the_front_only() {
        for (path, expected) in [("./a/b", "a/b"), ("a/./b", "a/b"), ("../a", "../a"), ("/a", "/a")] {
            assert_eq!(without_dot(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
