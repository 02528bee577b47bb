//! From a path in an attribute to files on disk.
//!
//! Paths are relative to the folder of `Cargo.toml`, which cargo names in `CARGO_MANIFEST_DIR`. If that is a copy
//! (trybuild builds in a package of its own), the files are in the package of the source file.

use std::path::{Component, Path, PathBuf};
use std::{env, fs};

use eval_format::conventions::{SET_NAMES, file_stem};
use eval_format::find::{find_sets, fixed_folder, is_glob};
use eval_support::spelling::suggest;
use eval_support::words::code_list;
use proc_macro2::Span;
use syn::LitStr;

use crate::diagnostics::error;
use crate::package::source_file;

#[derive(Debug)]
pub(crate) struct Folders {
    /// The value of `env!("CARGO_MANIFEST_DIR")` in the expansion.
    manifest: PathBuf,
    /// The package of the source file, if it is another one.
    source: Option<PathBuf>,
    /// The folder that paths in the compiler's messages are relative to.
    working: PathBuf,
}

/// A file that the attribute names, directly or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SourceFile {
    pub(crate) absolute: PathBuf,
    /// Relative to `CARGO_MANIFEST_DIR`, with `/`.
    pub(crate) relative: String,
    pub(crate) shown: String,
}

#[derive(Debug)]
pub(crate) enum Found {
    /// One file.
    One(SourceFile),
    /// All the sets of a directory or a glob, at least one.
    Many(Vec<Member>),
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) file: SourceFile,
    /// Its path below the directory, or below the part of the glob without wildcards.
    pub(crate) below: String,
}

impl Member {
    /// The directory, or the part of the glob without wildcards.
    pub(crate) fn top(&self) -> Option<&Path> {
        self.file.absolute.ancestors().nth(self.below.matches('/').count() + 1)
    }
}

impl SourceFile {
    pub(crate) fn name(&self) -> &str {
        self.relative.rsplit('/').next().unwrap_or(&self.relative)
    }
}

impl Folders {
    /// The folders for the source file that a span is in.
    pub(crate) fn of(span: Span) -> syn::Result<Self> {
        let working = env::current_dir().unwrap_or_default();
        let source = package_of_source(span, &working);
        // Read while expanding: `env!` would give the folder of this crate.
        let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).or_else(|| source.clone());
        let Some(manifest) = manifest else {
            return Err(error(
                span,
                "the folder of `Cargo.toml` is not known",
                "build with cargo, or set `CARGO_MANIFEST_DIR`",
            ));
        };
        let source = source.filter(|source| *source != manifest);
        Ok(Self { manifest, source, working })
    }

    /// The sets that a file, a directory or a glob names.
    pub(crate) fn sets(&self, path: &LitStr) -> syn::Result<Found> {
        let name = relative(path)?;
        for root in self.roots() {
            if root.join(&name).is_file() {
                return Ok(Found::One(self.file_in(root, &name)));
            }
            if !is_glob(&name) && !root.join(&name).is_dir() {
                continue;
            }
            let files = find_sets(root, &name).map_err(|found| error(path.span(), &found, found.help()))?;
            if !files.is_empty() {
                let prefix = fixed_folder(&name);
                let member = |file: &String| Member {
                    file: self.file_in(root, file),
                    below: file.strip_prefix(&prefix).unwrap_or(file).trim_start_matches('/').to_owned(),
                };
                return Ok(Found::Many(files.iter().map(member).collect()));
            }
        }
        Err(self.no_set(path.span(), &name))
    }

    /// The single file that a path names; `what` says what it should be.
    pub(crate) fn file(&self, path: &LitStr, what: &str) -> syn::Result<SourceFile> {
        let name = relative(path)?;
        match self.roots().find(|root| root.join(&name).is_file()) {
            Some(root) => Ok(self.file_in(root, &name)),
            None => Err(self.oddity(path.span(), &name, what).unwrap_or_else(|| {
                error(path.span(), format!("there is no {what} `{name}`"), self.nearest(&name))
            })),
        }
    }

    /// A file in the same folder as another, whether it exists or not.
    pub(crate) fn beside(&self, file: &SourceFile, name: &str) -> SourceFile {
        let relative = match file.relative.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{name}"),
            None => name.to_owned(),
        };
        let absolute = file.absolute.with_file_name(name);
        SourceFile { shown: self.shown(&absolute), absolute, relative }
    }

    /// A file or folder as an attribute names it.
    pub(crate) fn named(&self, absolute: &Path) -> String {
        let root = self.roots().find(|root| absolute.starts_with(root)).unwrap_or(&self.manifest);
        path_from(root, absolute)
    }

    /// A file relative to `CARGO_MANIFEST_DIR`.
    pub(crate) fn relative(&self, absolute: &Path) -> String {
        path_from(&self.manifest, absolute)
    }

    fn roots(&self) -> impl Iterator<Item = &Path> {
        [Some(self.manifest.as_path()), self.source.as_deref()].into_iter().flatten()
    }

    fn file_in(&self, root: &Path, name: &str) -> SourceFile {
        let absolute = root.join(name);
        let relative =
            if root == self.manifest { name.to_owned() } else { path_from(&self.manifest, &absolute) };
        SourceFile { shown: self.shown(&absolute), absolute, relative }
    }

    /// Relative to the working directory, as the compiler itself shows paths, so that a terminal or
    /// an editor can open it.
    fn shown(&self, absolute: &Path) -> String {
        let path = without_dots(absolute);
        path.strip_prefix(&self.working).unwrap_or(&path).display().to_string()
    }

    fn no_set(&self, span: Span, name: &str) -> syn::Error {
        if is_glob(name) {
            let help = format!("configs, sessions and recordings are never sets; {}", self.nearest(name));
            error(span, format!("no eval set matches `{name}`"), help)
        } else if self.roots().any(|root| root.join(name).is_dir()) {
            error(
                span,
                format!("the directory `{name}` holds no eval sets"),
                format!(
                    "sets in a directory are named {SET_NAMES}; a glob such as `\"evals/*.json\"` takes other names"
                ),
            )
        } else {
            self.oddity(span, name, "eval set").unwrap_or_else(|| {
                error(span, format!("there is no file or directory `{name}`"), self.nearest(name))
            })
        }
    }

    /// The mistake at a path that exists and is not a file. `what` says what it should be.
    fn oddity(&self, span: Span, name: &str, what: &str) -> Option<syn::Error> {
        let path = self.roots().map(|root| root.join(name)).find(|path| path.symlink_metadata().is_ok())?;
        Some(match fs::read_link(&path) {
            Ok(target) if !path.exists() => error(
                span,
                format!("`{name}` is a link to `{}`, which does not exist", target.display()),
                "restore that file, or replace the link",
            ),
            _ if path.is_dir() => {
                error(span, format!("the {what} `{name}` is a directory"), self.nearest(&format!("{name}/*")))
            }
            _ => error(span, format!("the {what} `{name}` is not a file"), "name a plain file"),
        })
    }

    /// Help for a path that does not exist: the nearest entries that do.
    fn nearest(&self, name: &str) -> String {
        let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let mut folder = String::new();
        for (at, part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            let deeper = if folder.is_empty() { (*part).to_owned() } else { format!("{folder}/{part}") };
            if !last && self.roots().any(|root| root.join(&deeper).is_dir()) {
                folder = deeper;
                continue;
            }
            return self.entries_like(&folder, part, &parts[at + 1..]);
        }
        RELATIVE.to_owned()
    }

    /// The contents of the folder that lacks `part`. `rest` is the path after it.
    fn entries_like(&self, folder: &str, part: &str, rest: &[&str]) -> String {
        let wants_file = rest.is_empty();
        let names = self.roots().map(|root| names_in(&root.join(folder), wants_file));
        let mut names: Vec<String> = names.flatten().collect();
        names.sort_unstable();
        names.dedup();
        let path = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let by_stem = || names.iter().find(|name| file_stem(name) == file_stem(part)).map(String::as_str);
        if let Some(meant) = suggest(part, names.iter().map(String::as_str)).or_else(by_stem) {
            let whole = [&[path(meant).as_str()], rest].concat().join("/");
            let exists = self.roots().any(|root| root.join(&whole).exists());
            return format!("did you mean `{}`?", if exists { whole } else { path(meant) });
        }
        let place =
            if folder.is_empty() { "the folder of `Cargo.toml`".to_owned() } else { format!("`{folder}`") };
        // If only the file is missing, the user has found the folder.
        let (what, hint) = if wants_file { ("JSON files", "") } else { ("folders", RELATIVE_HINT) };
        match names.len() {
            0 => format!("{place} holds no {what}{hint}"),
            1..=MAX_SHOWN_NAMES => format!("{place} holds {}{hint}", code_list(&names)),
            count => {
                let first = code_list(&names[..MAX_SHOWN_NAMES]);
                format!("{place} holds {count} {what}, among them {first}{hint}")
            }
        }
    }
}

const RELATIVE_HINT: &str = "; paths are relative to the folder of `Cargo.toml`";

const RELATIVE: &str = "paths are relative to the folder of `Cargo.toml`";

/// The most names that still read as a sentence.
const MAX_SHOWN_NAMES: usize = 4;

/// The path, if it means the same on every machine.
fn relative(path: &LitStr) -> syn::Result<String> {
    let name = path.value();
    if name.is_empty() {
        return Err(error(
            path.span(),
            "the path is empty",
            r#"name a file, such as "evals/weather.evalset.json""#,
        ));
    }
    let drive = name.as_bytes().get(1) == Some(&b':');
    if name.starts_with(['/', '\\']) || drive || Path::new(&name).is_absolute() {
        return Err(error(path.span(), format!("`{name}` is an absolute path"), RELATIVE));
    }
    if name.contains('\\') {
        let help = format!("write `{}`, which works on every system", name.replace('\\', "/"));
        return Err(error(path.span(), format!("`{name}` is written with backslashes"), help));
    }
    let mut name = name.as_str();
    while let Some(rest) = name.strip_prefix("./") {
        name = rest.trim_start_matches('/');
    }
    Ok(name.to_owned())
}

/// The names of the JSON files in a folder, or of its subfolders, without hidden ones.
fn names_in(folder: &Path, files: bool) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let path = Path::new(&name);
        let fits =
            if files { path.extension().is_some_and(|it| it == "json") } else { entry.path().is_dir() };
        (fits && !name.starts_with('.')).then_some(name)
    });
    names.collect()
}

/// The nearest folder above the source file that has a `Cargo.toml`; `None` in editors, which do not know the
/// file.
fn package_of_source(span: Span, working: &Path) -> Option<PathBuf> {
    let file = working.join(source_file(span)?);
    let package = file.ancestors().skip(1).find(|folder| folder.join("Cargo.toml").is_file())?;
    Some(package.to_path_buf())
}

/// The path without `.`, and without `..` after a name.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match clean.components().next_back() {
                Some(Component::Normal(_)) => drop(clean.pop()),
                // Nothing is above the root.
                Some(Component::RootDir) => {}
                _ => clean.push(component),
            },
            _ => clean.push(component),
        }
    }
    clean
}

/// The relative path from a folder to a file, with `/`.
fn path_from(folder: &Path, file: &Path) -> String {
    let (folder, file) = (without_dots(folder), without_dots(file));
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| "..".to_owned());
    let down = file.components().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders() -> Folders {
        let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        Folders { working: manifest.parent().unwrap().to_path_buf(), manifest, source: None }
    }

    fn literal(text: &str) -> LitStr {
        LitStr::new(text, Span::call_site())
    }

    #[test]
    fn paths_that_mean_one_machine_are_rejected() {
        for path in ["", "/evals/a.json", "C:/evals/a.json", "\\evals\\a.json", "evals\\a.json"] {
            assert!(relative(&literal(path)).is_err(), "{path}");
        }
        for path in ["./evals/../a.json", "././evals/../a.json", ".//evals/../a.json"] {
            assert_eq!(relative(&literal(path)).unwrap(), "evals/../a.json", "{path}");
        }
    }

    #[test]
    fn a_file_has_three_names() {
        let Found::One(file) = folders().sets(&literal("./src/../Cargo.toml")).unwrap() else { panic!() };
        assert_eq!(file.relative, "src/../Cargo.toml");
        // The folder of an unpacked package has the version in its name.
        let package = folders().manifest.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(file.shown, format!("{package}/Cargo.toml"));
        assert!(file.absolute.is_file());
        let beside = folders().beside(&file, "test_config.json");
        assert_eq!(beside.relative, "src/../test_config.json");
        assert_eq!(beside.shown, format!("{package}/test_config.json"));
    }

    #[test]
    fn in_a_copied_package_files_are_found_through_the_source() {
        let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let folders = Folders {
            manifest: package.join("target/copy"),
            source: Some(package.clone()),
            working: package,
        };
        let Found::One(file) = folders.sets(&literal("src/lib.rs")).unwrap() else { panic!() };
        assert_eq!((file.relative.as_str(), file.shown.as_str()), ("../../src/lib.rs", "src/lib.rs"));
    }

    #[test]
    fn a_missing_file_names_what_is_near() {
        for (path, expected) in [
            ("srk/lib.rs", "did you mean `src/lib.rs`?"),
            ("srk/lob.rs", "did you mean `src`?"),
            ("src/lib.json", "`src` holds no JSON files"),
            ("nowhere/at/all.json", "paths are relative to the folder of `Cargo.toml`"),
            ("src/*.json", "no eval set matches `src/*.json`"),
            ("src", "the directory `src` holds no eval sets"),
            ("src/[.json", "is not a glob"),
        ] {
            let message = folders().sets(&literal(path)).unwrap_err().to_string();
            assert!(message.contains(expected), "{path}: {message}");
        }
    }

    #[test]
    fn a_directory_in_place_of_a_file_is_named() {
        let message = folders().file(&literal("src"), "config file").unwrap_err().to_string();
        assert_eq!(message.lines().next(), Some("the config file `src` is a directory"));
    }

    #[cfg(unix)]
    #[test]
    fn a_broken_link_is_named_with_its_target() {
        let folder = env::temp_dir().join(format!("eval-macros-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink("gone.json", folder.join("a.evalset.json")).unwrap();
        let folders = Folders { manifest: folder.clone(), source: None, working: folder.clone() };
        let message = folders.sets(&literal("a.evalset.json")).unwrap_err().to_string();
        fs::remove_dir_all(folder).unwrap();
        assert!(
            message.contains("`a.evalset.json` is a link to `gone.json`, which does not exist"),
            "{message}"
        );
    }

    #[test]
    fn shown_paths_have_no_dots() {
        for (path, shown) in [("/a/./b/../c", "/a/c"), ("/a/../../c", "/c"), ("a/../../c", "../c")] {
            assert_eq!(without_dots(Path::new(path)), Path::new(shown), "{path}");
        }
    }
}
