//! Search for the sets of a directory or a glob.
//!
//! ```
//! # let base = std::env::temp_dir().join(format!("evalset-doc-sets-{}", std::process::id()));
//! # std::fs::create_dir_all(base.join("evals"))?;
//! # std::fs::write(base.join("evals/weather.evalset.json"), "{}")?;
//! assert_eq!(eval_format::find::find_sets(&base, "evals/*.json")?, ["evals/weather.evalset.json"]);
//! # std::fs::remove_dir_all(base)?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod near;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use glob::{MatchOptions, Pattern};

use crate::conventions::{FileKind, SET_SUFFIXES, is_passed_over};

/// A wildcard does not match the dot of a hidden file.
const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// Finds the sets of a directory or a glob.
///
/// A directory is searched with all its folders for `*.evalset.json` and `*.test.json`. A glob (`*`, `?`,
/// `[..]`, and `**` for any number of folders) gives the files that it matches. Configs (`test_config.json`,
/// `eval_config.json`), sessions (`*.session.json`) and recordings (`*.judge.json`) are never sets. Links are
/// followed, and no folder is searched twice. A broken link is listed like a file.
///
/// A directory and `**` leave out folders that tools write: hidden folders, caches (with a `CACHEDIR.TAG`, as
/// cargo's `target`), and packages of others (`node_modules`, crates of `cargo vendor`, Python environments).
///
/// The paths are given relative to `base`, with `/` between their parts, in alphabetical order.
/// No match is an empty list. Fails if the glob is malformed, if a folder cannot be listed, or if the name of a file is
/// nearly a set's, since its cases would go untested: `weather.evalsets.json`.
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
    let mut walk =
        Walk { base, found: Vec::new(), near: Vec::new(), seen: HashSet::new(), links: Vec::new() };
    if base.join(names.join("/")).is_dir() {
        for suffix in SET_SUFFIXES.iter().filter_map(|suffix| Pattern::new(&format!("*{suffix}")).ok()) {
            walk.all_below(&names.join("/"), &[Part::AnyFolders, Part::Pattern(suffix)])?;
        }
    } else {
        walk.all_below("", &parts_of_glob(&names)?)?;
    }
    let Walk { mut found, mut near, .. } = walk;
    near.sort_unstable();
    near.dedup();
    if !near.is_empty() {
        return Err(FindError::of_near_misses(&near));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Whether a path given to [`find_sets`] is a glob rather than the name of one file or directory.
///
/// ```
/// use eval_format::find::is_glob;
///
/// assert!(is_glob("evals/*.json") && !is_glob("evals"));
/// ```
#[doc(hidden)]
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The folder that contains all matches of a directory or a glob: the parts before the first wildcard.
///
/// ```
/// use eval_format::find::fixed_folder;
///
/// assert_eq!(fixed_folder("evals/refund*/*.json"), "evals");
/// assert_eq!(fixed_folder("*.json"), "");
/// ```
#[doc(hidden)]
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
        let part = Part::parse(name).map_err(|error| FindError {
            message: format!("`{}` is not a glob: {}", names.join("/"), error.msg),
            help: "a glob consists of names, `*`, `?`, `[..]` and `**`".to_owned(),
        })?;
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
    /// The files found. A file may be in it twice.
    found: Vec<String>,
    /// Files that would match under another name, each with that name.
    near: Vec<(String, String)>,
    /// The searched folders by their path without links, each with the number of parts that remained.
    seen: HashSet<(PathBuf, usize)>,
    /// Links to folders that are still to be searched, each with the number of parts that remain.
    links: Vec<(String, usize)>,
}

impl Walk<'_> {
    /// Collects the files that the parts match, first in folders and then through links. So a folder that is
    /// reachable without a link is found by its own path, and circles of links end.
    fn all_below(&mut self, at: &str, parts: &[Part]) -> Result<(), FindError> {
        self.seen.clear();
        self.below(at, parts)?;
        while !self.links.is_empty() {
            let mut links = std::mem::take(&mut self.links);
            links.sort_unstable();
            for (at, remaining) in links {
                self.below(&at, &parts[parts.len() - remaining..])?;
            }
        }
        Ok(())
    }

    /// Whether a folder is searched for the first time. `false` if its path cannot be resolved: such a folder
    /// cannot be listed either.
    fn is_new(&mut self, at: &str, remaining: usize) -> bool {
        fs::canonicalize(self.base.join(at)).is_ok_and(|folder| self.seen.insert((folder, remaining)))
    }

    fn below(&mut self, at: &str, parts: &[Part]) -> Result<(), FindError> {
        let Some((part, rest)) = parts.split_first() else { return Ok(()) };
        match part {
            Part::Name(name) => {
                let path = join(at, name);
                if rest.is_empty() { self.file(path) } else { self.below(&path, rest)? }
            }
            Part::AnyFolders => {
                if !self.is_new(at, parts.len()) {
                    return Ok(());
                }
                self.below(at, rest)?;
                for entry in self.entries(at)? {
                    let path = join(at, &entry.name);
                    if entry.kind != Kind::File && !is_left_out(&entry.name, &self.base.join(&path)) {
                        self.folder(path, entry.kind, parts)?;
                    }
                }
            }
            Part::Pattern(pattern) => {
                for entry in self.entries(at)? {
                    let path = join(at, &entry.name);
                    let matches = pattern.matches_with(&entry.name, OPTIONS);
                    match (rest, entry.kind) {
                        ([], _) if matches => self.file(path),
                        ([], Kind::File) => self.near_miss(path, &entry.name, pattern),
                        (_, kind) if matches && !rest.is_empty() => self.folder(path, kind, rest)?,
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Searches a folder now, or later if it is a link to one.
    fn folder(&mut self, path: String, kind: Kind, parts: &[Part]) -> Result<(), FindError> {
        match kind {
            Kind::Folder => self.below(&path, parts)?,
            Kind::Link => self.links.push((path, parts.len())),
            Kind::Nowhere => return Err(FindError::of_link(&path, &self.base.join(&path))),
            Kind::File => {}
        }
        Ok(())
    }

    /// Adds a near miss: a file that would match under the name that it was probably meant to have.
    fn near_miss(&mut self, path: String, name: &str, pattern: &Pattern) {
        if let Some(meant) = near::meant(name).filter(|meant| pattern.matches_with(meant, OPTIONS))
            && self.base.join(&path).is_file()
        {
            self.near.push((path, meant));
        }
    }

    /// Adds a file. A broken link is added too: reading it reports the error, while leaving it out would leave its
    /// cases untested.
    fn file(&mut self, path: String) {
        let file = self.base.join(&path);
        let leads_nowhere = || file.is_symlink() && !file.exists();
        let may_be_a_set = matches!(FileKind::from_name(&path), None | Some(FileKind::Set));
        if may_be_a_set && (file.is_file() || leads_nowhere()) {
            self.found.push(path);
        }
    }

    /// The entries of a folder; none if there is no such folder.
    fn entries(&self, at: &str) -> Result<Vec<Entry>, FindError> {
        let folder: PathBuf = self.base.join(at);
        let failed = |error| FindError {
            message: format!("cannot list `{at}`: {error}"),
            help: "give this user permission to list its folders, or name the folders to search".to_owned(),
        };
        let listing = match fs::read_dir(folder) {
            Ok(listing) => listing,
            Err(error) if is_no_folder(error.kind()) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut entries = Vec::new();
        for entry in listing {
            let entry = entry.map_err(failed)?;
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => Kind::Folder,
                Ok(kind) if kind.is_symlink() && entry.path().is_dir() => Kind::Link,
                Ok(kind) if kind.is_symlink() && leads_to_no_folder(&entry.path()) => Kind::Nowhere,
                _ => Kind::File,
            };
            match entry.file_name().into_string() {
                Ok(name) => entries.push(Entry { name, kind }),
                // A name that is not UTF-8 cannot be written in a pattern or in Rust source.
                Err(name) => {
                    let name = name.to_string_lossy();
                    if kind == Kind::Folder || FileKind::from_name(&name) == Some(FileKind::Set) {
                        return Err(FindError::of_name(&join(at, &name)));
                    }
                }
            }
        }
        Ok(entries)
    }
}

/// Whether a link leads to a folder that does not exist. Names of files have an extension.
fn leads_to_no_folder(link: &Path) -> bool {
    let is_folder = |path: &Path| path.extension().is_none();
    !link.exists() && is_folder(link) && fs::read_link(link).is_ok_and(|target| is_folder(&target))
}

/// Whether listing failed because there is no such folder. Windows has other error codes for it.
fn is_no_folder(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    matches!(kind, NotFound | NotADirectory | InvalidFilename)
}

struct Entry {
    name: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    /// A link to a folder. Links can form circles.
    Link,
    /// A link to a folder that does not exist.
    Nowhere,
    File,
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The reason why the sets of a directory or a glob could not be listed.
#[derive(Debug)]
pub struct FindError {
    message: String,
    help: String,
}

impl FindError {
    /// The remedy.
    pub fn help(&self) -> String {
        self.help.clone()
    }

    /// A link to a folder that does not exist.
    fn of_link(path: &str, link: &Path) -> Self {
        let target = fs::read_link(link).unwrap_or_default();
        Self {
            message: format!(
                "`{path}` is a link to `{}`, which does not exist, so the cases of its sets would go untested",
                target.display()
            ),
            help: "restore that folder, or remove the link".to_owned(),
        }
    }

    /// A set or a folder whose name is not UTF-8.
    fn of_name(path: &str) -> Self {
        Self {
            message: format!("the name of `{path}` is not UTF-8, so its cases would go untested"),
            help: "rename it, or move it elsewhere".to_owned(),
        }
    }

    /// Files that would match under another name, each with that name.
    fn of_near_misses(files: &[(String, String)]) -> Self {
        let paths = files.iter().map(|(path, _)| format!("`{path}`")).collect::<Vec<_>>().join(", ");
        let names = files.iter().map(|(_, meant)| format!("`{meant}`")).collect::<Vec<_>>().join(", ");
        let (what, its, them) = match files.len() {
            1 => ("has nearly the name of an eval set", "its", "it"),
            _ => ("have nearly the names of eval sets", "their", "them"),
        };
        Self {
            message: format!("{paths} {what}, so {its} cases would go untested"),
            help: format!("rename {them} to {names}, or move {them} elsewhere"),
        }
    }
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FindError {}

/// The beginning of a `CACHEDIR.TAG`, as <https://bford.info/cachedir/> says. Cargo writes one into `target`.
const TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Whether a search leaves out a folder below its start. A folder that the path names is always searched.
///
/// Folders that tools write are left out: hidden folders, caches with a tag, and installed packages of
/// others.
#[doc(hidden)]
pub fn is_left_out(name: &str, folder: &Path) -> bool {
    is_passed_over(name)
        || name == "node_modules"
        // A crate that `cargo vendor` wrote, and an environment of Python.
        || [".cargo-checksum.json", "pyvenv.cfg"].iter().any(|file| folder.join(file).is_file())
        || is_cache(folder)
}

fn is_cache(folder: &Path) -> bool {
    use std::io::Read;
    let mut begin = Vec::new();
    // A tag that cannot be read does not count.
    let read = fs::File::open(folder.join("CACHEDIR.TAG"))
        .and_then(|file| file.take(TAG.len() as u64).read_to_end(&mut begin));
    read.is_ok() && begin == TAG
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for each test, gone when dropped.
    pub(super) struct Folder(pub(super) PathBuf);

    impl Folder {
        pub(super) fn new(test: &str, files: &[&str]) -> Self {
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
    fn links_to_folders_are_followed_once() {
        let folder = Folder::new(
            "links",
            &["evals/b/x.evalset.json", "shared/deep/y.evalset.json", "other/z.evalset.json"],
        );
        let link = |to: &str, from: &str| {
            std::os::unix::fs::symlink(folder.0.join(to), folder.0.join(from)).unwrap();
        };
        link("evals", "evals/circle");
        // A folder that is there by itself keeps its own path.
        link("evals/b", "evals/a");
        link("shared", "evals/c");
        link("shared/deep", "evals/d");
        link("evals", "shared/back");
        let all = ["evals/b/x.evalset.json", "evals/c/deep/y.evalset.json"];
        assert_eq!(find_sets(&folder.0, "evals").unwrap(), all);
        assert_eq!(find_sets(&folder.0, "evals/**/*.json").unwrap(), all);
        assert_eq!(find_sets(&folder.0, "evals/d").unwrap(), ["evals/d/y.evalset.json"]);
        assert_eq!(find_sets(&folder.0, "e*/d/*.json").unwrap(), ["evals/d/y.evalset.json"]);
        assert_eq!(find_sets(&folder.0, "evals/[cd]/*.json").unwrap(), ["evals/d/y.evalset.json"]);
    }

    #[test]
    fn folders_of_tools_are_left_out_unless_they_are_named() {
        let files = [
            "a.evalset.json",
            "target/debug/b.evalset.json",
            "node_modules/kit/c.evalset.json",
            "vendor/kit/d.evalset.json",
            "vendor/kit/.cargo-checksum.json",
            "vendor/refunds/e.evalset.json",
            "venv/lib/f.evalset.json",
            "venv/pyvenv.cfg",
            "tagged/g.evalset.json",
        ];
        let folder = Folder::new("tools", &files);
        let tag = "Signature: 8a477f597d28d172789f06886806bc55\n# of cargo\n";
        fs::write(folder.0.join("target/CACHEDIR.TAG"), tag).unwrap();
        // It is no tag without its signature.
        fs::write(folder.0.join("tagged/CACHEDIR.TAG"), "Signature: 0").unwrap();
        let kept = ["a.evalset.json", "tagged/g.evalset.json", "vendor/refunds/e.evalset.json"];
        for pattern in ["", ".", "**/*.json", "**/*.evalset.json"] {
            assert_eq!(find_sets(&folder.0, pattern).unwrap(), kept, "{pattern}");
        }
        for (pattern, set) in [
            ("target", "target/debug/b.evalset.json"),
            ("target/debug/*.json", "target/debug/b.evalset.json"),
            ("node_modules/**/*.json", "node_modules/kit/c.evalset.json"),
        ] {
            assert_eq!(find_sets(&folder.0, pattern).unwrap(), [set], "{pattern}");
        }
    }

    #[test]
    fn a_file_that_is_nearly_named_as_a_set_is_an_error() {
        let files =
            ["evals/a.evalset.json", "evals/sub/b.evalset.JSON", "evals/c.evalsets.json", "evals/d.json"];
        let folder = Folder::new("near", &files);
        let error = find_sets(&folder.0, "evals").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`evals/c.evalsets.json`, `evals/sub/b.evalset.JSON` have nearly the names of eval sets, so their \
             cases would go untested"
        );
        assert_eq!(error.help(), "rename them to `c.evalset.json`, `b.evalset.json`, or move them elsewhere");
        // A glob reports a near miss only if it would match the file under its correct name.
        assert!(find_sets(&folder.0, "evals/*.evalset.json").is_err());
        for pattern in ["evals/a*.evalset.json", "evals/*s.json", "evals/*.json", "evals/d.json"] {
            assert!(find_sets(&folder.0, pattern).is_ok(), "{pattern}");
        }
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
        std::os::unix::fs::symlink("../vendored/weather", folder.0.join("evals/shared")).unwrap();
        for pattern in ["evals", "evals/**/*.json", "evals/s*/*.json"] {
            let error = find_sets(&folder.0, pattern).unwrap_err();
            assert_eq!(
                error.to_string(),
                "`evals/shared` is a link to `../vendored/weather`, which does not exist, so the cases of its sets would go untested"
            );
        }
        assert_eq!(find_sets(&folder.0, "evals/*.evalset.json").unwrap(), both);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn sets_and_folders_whose_names_are_not_utf_8_are_errors() {
        use std::os::unix::ffi::OsStrExt;
        let name = |bytes: &'static [u8]| std::ffi::OsStr::from_bytes(bytes);
        let folder = Folder::new("bytes", &["evals/a.evalset.json"]);
        fs::write(folder.0.join("evals").join(name(b"n\xff.txt")), "").unwrap();
        assert!(find_sets(&folder.0, "evals").is_ok());
        fs::write(folder.0.join("evals").join(name(b"m\xff.evalset.json")), "").unwrap();
        let error = find_sets(&folder.0, "evals").unwrap_err().to_string();
        assert!(
            error.ends_with("m\u{fffd}.evalset.json` is not UTF-8, so its cases would go untested"),
            "{error}"
        );
    }
}
