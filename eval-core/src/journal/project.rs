//! The project of a folder, which owns the runs that begin there. Writers and readers of runs ask here.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of runs in a project without cargo.
pub const OWN_FOLDER: &str = ".evalset";

const MARKS: [&str; 18] = [
    OWN_FOLDER,
    ".git",
    ".hg",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "package.json",
    "deno.json",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Gemfile",
    "composer.json",
    "mix.exs",
    "pubspec.yaml",
];

/// A project: a workspace of cargo, or a folder of another language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The folder of the workspace; without cargo, the folder that has a manifest of another language, `.git` or
    /// `.evalset`.
    pub folder: PathBuf,
    /// Whether cargo builds it.
    pub is_of_cargo: bool,
    /// The package of cargo that the folder asked about belongs to; `None` without cargo, and in a workspace outside of
    /// its packages.
    pub package: Option<Package>,
}

/// A package of cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// The folder of its manifest.
    pub folder: PathBuf,
}

impl Project {
    /// The project that a folder belongs to. The nearest manifest of any language decides. Without a manifest
    /// in the folder or above it, the folder is a project of its own.
    pub fn from_folder(folder: &Path) -> Self {
        for found in folder.ancestors() {
            if let Some(manifest) = Manifest::read(found) {
                let package = manifest.package.map(|name| Package { name, folder: found.to_owned() });
                return Self { folder: workspace(found), is_of_cargo: true, package };
            }
            if MARKS.iter().any(|mark| found.join(mark).exists()) {
                return Self { folder: found.to_owned(), is_of_cargo: false, package: None };
            }
        }
        Self { folder: folder.to_owned(), is_of_cargo: false, package: None }
    }

    /// The project of the current folder.
    pub fn here() -> Self {
        Self::from_folder(&std::env::current_dir().unwrap_or_default())
    }

    /// The project of a program: of the package that cargo started it for, else of the current folder.
    pub(super) fn of_program() -> Self {
        std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(Self::here, |folder| Self::from_folder(Path::new(&folder)))
    }

    /// The package, if its folder is not the folder of the whole workspace.
    pub fn member(&self) -> Option<&Package> {
        self.package.as_ref().filter(|package| package.folder != self.folder)
    }
}

/// The workspace of the tests of a package. On a machine that did not build them, nextest, which runs
/// archives there, says where the package is. Without the package, it is the package's folder on the machine
/// that built it.
pub(super) fn workspace_of_tests(manifest_dir: &str) -> PathBuf {
    let built_in = Path::new(manifest_dir);
    if built_in.is_dir() {
        return Project::from_folder(built_in).folder;
    }
    let remapped = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    remapped.map_or_else(|| built_in.to_owned(), |folder| Project::from_folder(&folder).folder)
}

/// The folder of the workspace of a package. A package that is not in the workspace above it has a `Cargo.lock` of its
/// own as soon as cargo has built it.
fn workspace(package: &Path) -> PathBuf {
    let manifest = Manifest::read(package).unwrap_or_default();
    if let Some(elsewhere) = manifest.workspace {
        let root = package.join(elsewhere);
        return fs::canonicalize(&root).unwrap_or(root);
    }
    if manifest.is_workspace || package.join("Cargo.lock").is_file() {
        return package.to_owned();
    }
    let is_workspace = |folder: &&Path| Manifest::read(folder).is_some_and(|manifest| manifest.is_workspace);
    package.ancestors().skip(1).find(is_workspace).unwrap_or(package).to_owned()
}

/// Facts of a `Cargo.toml`. Test processes read it too, so it is read line by line, without a parser of TOML.
#[derive(Debug, Default, PartialEq, Eq)]
struct Manifest {
    package: Option<String>,
    is_workspace: bool,
    workspace: Option<String>,
}

impl Manifest {
    fn read(folder: &Path) -> Option<Self> {
        let path = folder.join("Cargo.toml");
        path.is_file().then(|| Self::of(&fs::read_to_string(path).unwrap_or_default()))
    }

    fn of(text: &str) -> Self {
        let mut manifest = Self::default();
        let mut table = "";
        for line in text.lines().map(str::trim) {
            if let Some(header) = line.strip_prefix('[') {
                table = header.split(']').next().unwrap_or_default().trim();
                manifest.is_workspace |= table == "workspace" || table.starts_with("workspace.");
            } else if table == "package" {
                match line.split_once('=').map(|(key, value)| (key.trim(), quoted(value))) {
                    Some(("name", name)) => manifest.package = name,
                    Some(("workspace", folder)) => manifest.workspace = folder,
                    _ => {}
                }
            }
        }
        manifest
    }
}

fn quoted(value: &str) -> Option<String> {
    let value = value.trim();
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    Some(value[1..].split_once(quote)?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// The project of the folder `here` among these files: its folder, its package, and whether it is cargo's.
    fn found(files: &[(&str, &str)], here: &str) -> (String, Option<String>, bool) {
        let folder = TempDir::new().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(root.join(here)).unwrap();
        let Project { folder, is_of_cargo, package } = Project::from_folder(&root.join(here));
        let near = folder.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        (near, package.map(|package| package.name), is_of_cargo)
    }

    #[test]
    fn a_folder_belongs_to_the_nearest_manifest_and_a_member_to_its_workspace() {
        const A: (&str, &str) =
            ("w/a/Cargo.toml", "[package]\nname = \"a\" # ours\nversion.workspace = true\n");
        const ROOT: (&str, &str) = ("w/Cargo.toml", "[workspace]\nmembers = [\"a\"]\n");
        const LOCK: (&str, &str) = ("w/Cargo.lock", "");
        let pointing = ("w/a/Cargo.toml", "[package]\nname = 'a'\nworkspace = \"../../v\"\n");
        for (what, files, here, expected) in [
            ("a member", vec![ROOT, LOCK, A], "w/a/evals", ("w", Some("a"), true)),
            ("the root", vec![ROOT, LOCK, A], "w", ("w", None, true)),
            ("a folder of the root", vec![ROOT, A], "w/evals", ("w", None, true)),
            ("no lock yet", vec![ROOT, A], "w/a", ("w", Some("a"), true)),
            ("a package alone", vec![A], "w/a/src", ("w/a", Some("a"), true)),
            (
                "a package below a package",
                vec![("w/Cargo.toml", "[package]\nname = \"w\"\n"), LOCK, A],
                "w/a",
                ("w/a", Some("a"), true),
            ),
            (
                "a root package with a workspace",
                vec![("w/Cargo.toml", "[package]\nname = \"w\"\n[workspace.dependencies]\n"), A],
                "w/a",
                ("w", Some("a"), true),
            ),
            (
                "an excluded package",
                vec![ROOT, LOCK, A, ("w/a/Cargo.lock", "")],
                "w/a",
                ("w/a", Some("a"), true),
            ),
            (
                "a workspace in a workspace",
                vec![ROOT, ("w/a/Cargo.toml", "[workspace]\n[package]\nname = \"a\"")],
                "w/a",
                ("w/a", Some("a"), true),
            ),
            (
                "a pointer",
                vec![ROOT, pointing, ("v/Cargo.toml", "[workspace]")],
                "w/a",
                ("v", Some("a"), true),
            ),
            (
                "Python below Rust",
                vec![ROOT, LOCK, A, ("w/a/py/pyproject.toml", "")],
                "w/a/py/agents",
                ("w/a/py", None, false),
            ),
            ("Rust below Python", vec![("w/setup.py", ""), A], "w/a", ("w/a", Some("a"), true)),
            ("both in one folder", vec![A, ("w/a/pyproject.toml", "")], "w/a", ("w/a", Some("a"), true)),
            ("a folder of a package", vec![A], "w/a/py", ("w/a", Some("a"), true)),
            ("git alone", vec![("w/.git/HEAD", "")], "w/agents", ("w", None, false)),
            ("runs recorded here before", vec![("w/.evalset/.gitignore", "*")], "w/x", ("w", None, false)),
            ("no mark", vec![("w/agent.py", "")], "w/x", ("w/x", None, false)),
        ] {
            let (folder, package, is_of_cargo) = found(&files, here);
            assert_eq!((folder.as_str(), package.as_deref(), is_of_cargo), expected, "{what}");
        }
    }

    #[test]
    fn tests_that_were_built_elsewhere_name_the_folder_there() {
        let here = env!("CARGO_MANIFEST_DIR");
        assert_eq!(workspace_of_tests(here), Project::from_folder(Path::new(here)).folder);
        assert_eq!(
            Project::of_program(),
            Project::from_folder(Path::new(here)),
            "cargo started this program"
        );
        // Where nextest or cargo starts the tests, they say where the package is.
        assert_eq!(workspace_of_tests("/no/such/folder"), Project::from_folder(Path::new(here)).folder);
    }
}
