//! The source of eval-core for the tests: a clone of the repository, or its address.
//!
//! The crates are not in a registry yet. The package of this name there is another project.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

use eval_support::untrusted::one_line;
use eval_support::variables::REPOSITORY;

use super::new_file::shown;
use crate::output::CommandError;

/// The package that the tests depend on.
pub(super) const EVAL_CORE: &str = "eval-core";

const HELP: &str =
    "name a clone of evalset, `--path ../evalset`, or the address of its repository, `--git https://..`";

/// The source of eval-core.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The folder of the crate in a clone.
    Clone(PathBuf),
    /// The address of the repository, and the branch, tag or revision of it, if one is named: `("tag", "v1")`.
    Repository { address: String, at: Option<(String, String)> },
}

impl Source {
    /// The source that is named on the command line, or by the variable; else the sources that this program was built of.
    pub(super) fn new(clone: Option<&Path>, address: Option<&str>) -> Result<Self, CommandError> {
        if let Some(clone) = clone {
            // The argument names the clone or the crate in it.
            let found = [clone.join(EVAL_CORE), clone.to_path_buf()].iter().find_map(|it| crate_at(it));
            let message = format!("there is no eval-core in `{}`", shown(clone));
            return found.map(Self::Clone).ok_or_else(|| CommandError::new(message, HELP));
        }
        let set = || env::var(REPOSITORY).ok().filter(|address| !address.trim().is_empty());
        match address.map(str::to_owned).or_else(set) {
            Some(address) => Self::at_address(address.trim()),
            None => Self::built_of(Path::new(env!("CARGO_MANIFEST_DIR"))),
        }
    }

    fn at_address(address: &str) -> Result<Self, CommandError> {
        if let Some((scheme, rest)) = address.split_once("://")
            && let Some((login, host)) =
                rest.split('/').next().and_then(|authority| authority.rsplit_once('@'))
            && (login.contains(':') || scheme.starts_with("http"))
        {
            let shown = format!("{scheme}://..@{host}{}", &rest[login.len() + 1 + host.len()..]);
            return Err(CommandError::new(
                format!("`{}` has a login, which Cargo.toml would show to all readers", one_line(&shown)),
                "write the address without it, and let a credential helper of git log in: `git config --global credential.helper`",
            ));
        }
        let is_url = address.split_once("://").is_some_and(|(scheme, rest)| {
            !rest.is_empty()
                && !scheme.is_empty()
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        });
        if is_url && !address.contains(char::is_whitespace) {
            return Ok(Self::Repository { address: address.to_owned(), at: None });
        }
        Err(CommandError::new(
            format!("`{}` is no address that cargo takes", one_line(address)),
            "write it as `https://HOST/PATH`, `ssh://git@HOST/PATH` or `file:///PATH`; `--path` takes a folder",
        ))
    }

    /// The source that a program was built of. `sources` is the folder of its crate.
    fn built_of(sources: &Path) -> Result<Self, CommandError> {
        let Some((home, revision)) = checkout(sources) else {
            let message = "the clone that this program was built in is not there any more";
            let found = crate_at(&sources.with_file_name(EVAL_CORE));
            return found.map(Self::Clone).ok_or_else(|| CommandError::new(message, HELP));
        };
        // cargo removes checkouts, and other machines have none: a package cannot depend on the folder.
        let bin = env::current_exe().ok();
        let root = bin.as_deref().and_then(|bin| bin.parent()?.parent());
        let installed =
            root.into_iter().chain([home.as_path()]).find_map(|root| installed_from(root, &revision));
        installed.or_else(|| fetched_from(&home, sources)).ok_or_else(|| {
            let message =
                "this program was installed from a repository whose address cargo does not tell any more";
            CommandError::new(
                message,
                format!("name the address: `--git https://..`, or the variable `{REPOSITORY}`"),
            )
        })
    }

    /// The dependency on eval-core, for the package in a folder.
    pub(super) fn dependency(&self, package: &Path) -> (&'static str, String) {
        let text = |text: &str| toml_edit::Value::from(text).to_string();
        let value = match self {
            Self::Clone(eval_core) => {
                let package = fs::canonicalize(package).unwrap_or_else(|_| package.to_path_buf());
                let path = relative(&package, eval_core).display().to_string();
                // Windows accepts `/` too, and a checkout may be used on several systems.
                let path = if cfg!(windows) { path.replace('\\', "/") } else { path };
                format!("{{ path = {} }}", text(&path))
            }
            Self::Repository { address, at: None } => format!("{{ git = {} }}", text(address)),
            Self::Repository { address, at: Some((key, name)) } => {
                format!("{{ git = {}, {key} = {} }}", text(address), text(name))
            }
        };
        (EVAL_CORE, value)
    }
}

/// The home of cargo and the revision, if a folder is in one of cargo's checkouts of repositories:
/// `HOME/git/checkouts/NAME-HASH/REVISION/..`.
fn checkout(folder: &Path) -> Option<(PathBuf, String)> {
    let parts: Vec<Component<'_>> = folder.components().collect();
    let is = |at: usize, name: &str| parts[at].as_os_str() == OsStr::new(name);
    let at = (0..parts.len().checked_sub(3)?).rfind(|at| is(*at, "git") && is(at + 1, "checkouts"))?;
    Some((parts[..at].iter().collect(), parts[at + 3].as_os_str().to_str()?.to_owned()))
}

/// The source in cargo's list of installed programs: `"cargo-evalset 0.1.0 (git+https://..?tag=v1#REVISION)"`.
fn installed_from(root: &Path, revision: &str) -> Option<Source> {
    let list = fs::read_to_string(root.join(".crates2.json")).ok()?;
    let list: serde_json::Value = serde_json::from_str(&list).ok()?;
    let source = list.get("installs")?.as_object()?.keys().find_map(|package| {
        let (_, source) = package.strip_prefix("cargo-evalset ")?.split_once("(git+")?;
        let (source, at) = source.strip_suffix(')')?.rsplit_once('#')?;
        at.starts_with(revision).then(|| source.to_owned())
    })?;
    let (address, query) = match source.split_once('?') {
        Some((address, query)) => (address, query.split_once('=')),
        None => (source.as_str(), None),
    };
    // Other names are encoded in the list, and rare.
    let is_plain = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c));
    let at = match query {
        Some((key @ ("branch" | "tag" | "rev"), name)) if is_plain(name) => {
            Some((key.to_owned(), name.to_owned()))
        }
        Some(_) => return None,
        None => None,
    };
    Source::at_address(address).ok()?;
    Some(Source::Repository { address: address.to_owned(), at })
}

/// The address that cargo's copy of the repository was fetched from last: `.. of https://..`.
fn fetched_from(home: &Path, sources: &Path) -> Option<Source> {
    let name = sources.strip_prefix(home.join("git/checkouts")).ok()?.components().next()?;
    let fetched = fs::read_to_string(home.join("git/db").join(name).join("FETCH_HEAD")).ok()?;
    let what = fetched.lines().next_back()?.rsplit('\t').next()?;
    let address = what.rsplit_once(" of ").map_or(what, |(_, address)| address);
    Source::at_address(address).ok()
}

/// The folder, if it holds the crate.
fn crate_at(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    manifest.lines().any(|line| line.trim() == "name = \"eval-core\"").then_some(folder)
}

/// The path from one folder to another: relative if they share more than the root, else absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let common: Vec<_> = from.components().zip(to.components()).take_while(|(a, b)| a == b).collect();
    if !common.iter().any(|(a, _)| matches!(a, Component::Normal(_))) {
        return to.to_path_buf();
    }
    let up = from.components().skip(common.len()).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common.len())).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_clone_nearby_is_named_from_the_package_and_one_far_away_from_the_root() {
        for (from, to, expected) in [
            ("/home/me/agent", "/home/me/evalset/eval-core", "../evalset/eval-core"),
            ("/home/me/work/agent", "/home/me/evalset/eval-core", "../../evalset/eval-core"),
            ("/home/me/evalset/a", "/home/me/evalset/eval-core", "../eval-core"),
            ("/srv/agent", "/home/me/evalset/eval-core", "/home/me/evalset/eval-core"),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)), Path::new(expected), "{from}");
        }
    }

    #[test]
    fn an_address_is_one_that_cargo_takes() {
        for (address, is_taken) in [
            ("https://host.test/evalset", true),
            ("ssh://git@host.test/evalset.git", true),
            ("file:///srv/evalset", true),
            ("git@host.test:evalset.git", false),
            ("../evalset", false),
            ("https://", false),
            ("https://host.test/a b", false),
            ("https://host.test/a@v1", true),
            ("https://me:key-7@host.test/e", false),
            ("https://key-7@host.test/e", false),
            ("ssh://git:key-7@host.test/e", false),
        ] {
            let taken = Source::at_address(address);
            assert_eq!(taken.is_ok(), is_taken, "{address}");
            assert!(!taken.is_err_and(|error| error.to_string().contains("key-7")), "{address}");
        }
    }

    /// The home of cargo with a checkout, and the folder of the program's crate in it.
    fn home() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().expect("a folder");
        let sources = home.path().join("git/checkouts/evalset-0123/f83cbfb/eval-cli");
        fs::create_dir_all(sources.with_file_name(EVAL_CORE)).expect("a folder");
        fs::write(sources.with_file_name(EVAL_CORE).join("Cargo.toml"), "name = \"eval-core\"")
            .expect("a file");
        (home, sources)
    }

    #[test]
    fn a_program_that_cargo_installed_from_a_repository_names_the_address_and_never_the_checkout() {
        let dependency = |sources: &Path| {
            let source = Source::built_of(sources).expect("it is known");
            source.dependency(Path::new("/srv/agent")).1
        };
        for (source, expected) in [
            ("git+https://host.test/e", r#"{ git = "https://host.test/e" }"#),
            ("git+https://host.test/e?tag=v1", r#"{ git = "https://host.test/e", tag = "v1" }"#),
            ("git+file:///srv/e?branch=a/b", r#"{ git = "file:///srv/e", branch = "a/b" }"#),
        ] {
            let (home, sources) = home();
            let list = format!(
                r#"{{"installs": {{"other 1.0.0 (git+https://host.test/o#f83cbfbd)": {{}}, "cargo-evalset 0.1.0 ({source}#f83cbfbd84)": {{}}}}}}"#
            );
            fs::write(home.path().join(".crates2.json"), list).expect("a file");
            assert_eq!(dependency(&sources), expected);
        }
        // The list has another revision: the copy of the repository tells its address too.
        for (fetched, expected) in [
            ("f83cbfbd\t\ttag 'v1' of file:///srv/e\n", r#"{ git = "file:///srv/e" }"#),
            ("f83cbfbd\t\thttps://host.test/e\n", r#"{ git = "https://host.test/e" }"#),
        ] {
            let (home, sources) = home();
            let list = r#"{"installs": {"cargo-evalset 0.1.0 (git+https://host.test/old#1111)": {}}}"#;
            fs::write(home.path().join(".crates2.json"), list).expect("a file");
            let copy = home.path().join("git/db/evalset-0123");
            fs::create_dir_all(&copy).expect("a folder");
            fs::write(copy.join("FETCH_HEAD"), fetched).expect("a file");
            assert_eq!(dependency(&sources), expected);
        }
        let (home, sources) = home();
        let list = r#"{"installs": {"cargo-evalset 0.1.0 (git+https://me:key@host.test/e#f83cbfbd84)": {}}}"#;
        fs::write(home.path().join(".crates2.json"), list).expect("a file");
        let error = Source::built_of(&sources).expect_err("nothing tells it");
        assert!(error.help.contains("`--git https://..`, or the variable `EVALSET_REPOSITORY`"), "{error}");
    }

    #[test]
    fn a_clone_that_is_no_checkout_of_cargo_is_named_by_its_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = folder.path().join("git/evalset/eval-cli");
        assert!(Source::built_of(&sources).is_err());
        let eval_core = sources.with_file_name(EVAL_CORE);
        fs::create_dir_all(&eval_core).expect("a folder");
        fs::write(eval_core.join("Cargo.toml"), "name = \"eval-core\"").expect("a file");
        let eval_core = fs::canonicalize(eval_core).expect("it is there");
        assert_eq!(Source::built_of(&sources).expect("it is there"), Source::Clone(eval_core));
    }
}
