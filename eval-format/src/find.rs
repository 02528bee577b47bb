//! The sets that a directory or a glob stands for.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use glob::{MatchOptions, Pattern};

use crate::conventions::{FileKind, SET_SUFFIXES, is_passed_over};
use crate::order::sorted;

/// A wildcard does not match the dot of a hidden file.
const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// Finds the sets that a directory or a glob stands for.
///
/// A directory is searched with all its folders for `*.evalset.json` and `*.test.json`; a glob (`*`, `?`, `[..]`, and
/// `**` for any number of folders) for the files it matches. Configs (`test_config.json`, `eval_config.json`), sessions
/// (`*.session.json`) and recordings (`*.judge.json`) are never sets. Links to folders are not followed; links to files
/// are, also those that lead nowhere.
///
/// The paths are given relative to `base`, with `/` between their parts, in alphabetical order.
/// No match is an empty list. Fails if the glob is malformed or a folder cannot be listed.
///
/// ```
/// # let base = std::env::temp_dir().join(format!("evalset-doc-find-{}", std::process::id()));
/// # std::fs::create_dir_all(base.join("evals/refunds"))?;
/// # for file in ["evals/weather.evalset.json", "evals/refunds/late.test.json", "evals/test_config.json"] {
/// #     std::fs::write(base.join(file), "{}")?;
/// # }
/// let sets = eval_format::find::find_sets(&base, "evals")?;
/// assert_eq!(sets, ["evals/refunds/late.test.json", "evals/weather.evalset.json"]);
/// assert_eq!(eval_format::find::find_sets(&base, "evals/*.json")?, ["evals/weather.evalset.json"]);
/// # std::fs::remove_dir_all(base)?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn find_sets(base: impl AsRef<Path>, pattern: &str) -> Result<Vec<String>, FindError> {
    let base = base.as_ref();
    let names = names_of(pattern);
    let mut walk = Walk { base, found: Vec::new() };
    if base.join(names.join("/")).is_dir() {
        for suffix in SET_SUFFIXES.iter().filter_map(|suffix| Pattern::new(&format!("*{suffix}")).ok()) {
            walk.below(&names.join("/"), &[Part::AnyFolders, Part::Pattern(suffix)])?;
        }
    } else {
        walk.below("", &parts_of_glob(&names)?)?;
    }
    let found = walk.found;
    let mut sets: Vec<String> = Vec::with_capacity(found.len());
    for at in sorted(found.len(), &|one, other| found[one].cmp(&found[other])) {
        if sets.last() != Some(&found[at]) {
            sets.push(found[at].clone());
        }
    }
    Ok(sets)
}

/// Whether a path given to [`find_sets`] is a glob rather than the name of one file or directory.
///
/// ```
/// assert!(eval_format::__private::is_glob("evals/*.json") && !eval_format::__private::is_glob("evals"));
/// ```
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The folder that contains everything a directory or a glob stands for: the parts before the first wildcard.
///
/// ```
/// use eval_format::__private::fixed_folder;
///
/// assert_eq!(fixed_folder("evals/refund*/*.json"), "evals");
/// assert_eq!(fixed_folder("*.json"), "");
/// ```
pub fn fixed_folder(pattern: &str) -> String {
    let names = names_of(pattern);
    let fixed = names.iter().position(|name| is_glob(name)).unwrap_or(names.len());
    names[..fixed].join("/")
}

/// The names between the `/` of a pattern, without empty ones and `.`.
fn names_of(pattern: &str) -> Vec<&str> {
    pattern.split('/').filter(|name| !matches!(*name, "" | ".")).collect()
}

fn parts_of_glob(names: &[&str]) -> Result<Vec<Part>, FindError> {
    let mut parts: Vec<Part> = Vec::new();
    for name in names {
        let part = Part::parse(name)
            .map_err(|error| FindError { place: names.join("/"), reason: Reason::Pattern(error.msg) })?;
        // `**/**` finds what `**` finds, many times over.
        if !(matches!(part, Part::AnyFolders) && matches!(parts.last(), Some(Part::AnyFolders))) {
            parts.push(part);
        }
    }
    Ok(parts)
}

/// One part of a pattern, between two `/`.
#[derive(Clone)]
enum Part {
    /// `..`, `evals`: taken as it is.
    Name(String),
    /// `*.json`.
    Pattern(Pattern),
    /// `**`.
    AnyFolders,
}

impl Part {
    fn parse(part: &str) -> Result<Self, glob::PatternError> {
        Ok(match part {
            "**" => Self::AnyFolders,
            _ if is_glob(part) => Self::Pattern(Pattern::new(part)?),
            _ => Self::Name(part.to_owned()),
        })
    }
}

struct Walk<'b> {
    base: &'b Path,
    /// A file may be found twice.
    found: Vec<String>,
}

impl Walk<'_> {
    /// Collects what the remaining parts match in the folder `at`, relative to the base.
    fn below(&mut self, at: &str, parts: &[Part]) -> Result<(), FindError> {
        let Some((part, rest)) = parts.split_first() else { return Ok(()) };
        match part {
            Part::Name(name) => {
                let path = join(at, name);
                if rest.is_empty() { self.file(path) } else { self.below(&path, rest)? }
            }
            Part::AnyFolders => {
                self.below(at, rest)?;
                for entry in
                    self.entries(at)?.iter().filter(|entry| entry.is_folder && !is_passed_over(&entry.name))
                {
                    self.below(&join(at, &entry.name), parts)?;
                }
            }
            Part::Pattern(pattern) => {
                for entry in
                    self.entries(at)?.iter().filter(|entry| pattern.matches_with(&entry.name, OPTIONS))
                {
                    let path = join(at, &entry.name);
                    match (rest, entry.is_folder) {
                        ([], _) => self.file(path),
                        (_, true) => self.below(&path, rest)?,
                        (_, false) => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds a file. A broken link is added too: reading it reports the error, while leaving it out would leave its
    /// cases untested.
    fn file(&mut self, path: String) {
        let file = self.base.join(&path);
        let leads_nowhere = || file.is_symlink() && !file.exists();
        let may_be_a_set = matches!(FileKind::of(&path), None | Some(FileKind::Set));
        if may_be_a_set && (file.is_file() || leads_nowhere()) {
            self.found.push(path);
        }
    }

    /// What is in a folder; nothing if there is no such folder.
    fn entries(&self, at: &str) -> Result<Vec<Entry>, FindError> {
        let folder: PathBuf = self.base.join(at);
        let failed = |error| FindError { place: at.to_owned(), reason: Reason::Folder(error) };
        let listing = match fs::read_dir(folder) {
            Ok(listing) => listing,
            Err(error) if is_no_folder(error.kind()) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut entries = Vec::new();
        for entry in listing {
            let entry = entry.map_err(failed)?;
            // A name that is not UTF-8 cannot be written in a pattern or in Rust source.
            if let Ok(name) = entry.file_name().into_string() {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                entries.push(Entry { name, is_folder });
            }
        }
        Ok(entries)
    }
}

/// Whether listing failed because there is no such folder. Windows has other error codes for it.
fn is_no_folder(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    matches!(kind, NotFound | NotADirectory | InvalidFilename)
}

struct Entry {
    name: String,
    /// A folder itself, not a link to one: links can form circles.
    is_folder: bool,
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Why the sets of a directory or a glob could not be listed.
#[derive(Debug)]
pub struct FindError {
    place: String,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    Pattern(&'static str),
    Folder(io::Error),
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Pattern(message) => write!(f, "`{}` is not a glob: {message}", self.place),
            Reason::Folder(error) => write!(f, "cannot list `{}`: {error}", self.place),
        }
    }
}

impl std::error::Error for FindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            Reason::Pattern(_) => None,
            Reason::Folder(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for each test, gone when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str, files: &[&str]) -> Self {
            let root = std::env::temp_dir().join(format!("eval-format-find-{}-{test}", std::process::id()));
            for file in files {
                let path = root.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "{}").unwrap();
            }
            Self(root)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    const FILES: &[&str] = &[
        "evals/b.evalset.json",
        "evals/a.test.json",
        "evals/sub/c.evalset.json",
        "evals/sub/deep/d.evalset.json",
        "evals/other.json",
        "evals/test_config.json",
        "evals/sub/eval_config.json",
        "evals/trip.session.json",
        "evals/a.judge.json",
        "evals/.#b.evalset.json",
        "evals/.git/x.evalset.json",
        "lone.evalset.json",
    ];

    #[test]
    fn directories_and_globs_find_sets_only() {
        let folder = Folder::new("finds", FILES);
        let all: &[&str] = &[
            "evals/a.test.json",
            "evals/b.evalset.json",
            "evals/sub/c.evalset.json",
            "evals/sub/deep/d.evalset.json",
        ];
        for (pattern, expected) in [
            ("evals", all),
            ("evals/", all),
            ("./evals/.", all),
            ("evals/*.evalset.json", &["evals/b.evalset.json"]),
            ("evals/*.json", &["evals/a.test.json", "evals/b.evalset.json", "evals/other.json"]),
            ("evals/**/*.evalset.json", &all[1..]),
            ("**/**/**/d.*", &["evals/sub/deep/d.evalset.json"]),
            ("**/sub/*.json", &["evals/sub/c.evalset.json"]),
            ("e?als/[ab].*", &["evals/a.test.json", "evals/b.evalset.json"]),
            ("*/other.json", &["evals/other.json"]),
            ("evals/../*.json", &["evals/../lone.evalset.json"]),
            ("lone.evalset.json", &["lone.evalset.json"]),
            ("evals/*.yaml", &[]),
            ("nowhere/*.json", &[]),
            ("lone.evalset.json/*", &[]),
            ("nowhere", &[]),
        ] {
            assert_eq!(find_sets(&folder.0, pattern).unwrap(), expected, "{pattern}");
        }
    }

    #[test]
    fn the_fixed_folder_of_a_glob_is_whole() {
        for (path, expected) in [
            ("evals/a*/x.json", "evals"),
            ("evals/re*.json", "evals"),
            ("*.json", ""),
            ("evals/", "evals"),
            ("a/./b/**/c.json", "a/b"),
        ] {
            assert_eq!(fixed_folder(path), expected, "{path}");
        }
    }

    #[test]
    fn a_broken_glob_says_so() {
        let error = find_sets(".", "evals/[a.json").unwrap_err();
        assert!(error.to_string().starts_with("`evals/[a.json` is not a glob"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_are_not_followed() {
        let folder = Folder::new("links", &["evals/a.evalset.json"]);
        std::os::unix::fs::symlink(folder.0.join("evals"), folder.0.join("evals/circle")).unwrap();
        assert_eq!(find_sets(&folder.0, "evals").unwrap(), ["evals/a.evalset.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_nowhere_are_not_left_out() {
        let folder = Folder::new("nowhere", &["evals/a.evalset.json"]);
        for name in ["evals/b.evalset.json", "evals/b.session.json", "evals/notes.json"] {
            std::os::unix::fs::symlink("gone", folder.0.join(name)).unwrap();
        }
        let both = ["evals/a.evalset.json", "evals/b.evalset.json"];
        assert_eq!(find_sets(&folder.0, "evals").unwrap(), both);
        assert_eq!(find_sets(&folder.0, "evals/*set.json").unwrap(), both);
    }
}
