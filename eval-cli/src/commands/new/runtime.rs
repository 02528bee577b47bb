//! Where eval-core is, which the new tests depend on.
//!
//! The crates are not in a registry yet, so the tests depend on a clone of the repository.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::new_file::shown;
use crate::output::CommandError;

/// The package that the tests depend on. The one of this name in the registry is another project.
pub(super) const NAME: &str = "eval-core";

/// The folder of eval-core in the clone that is named, or in the one that this program was built in.
pub(super) fn folder(clone: Option<&Path>) -> Result<PathBuf, CommandError> {
    let help = "name a clone of evalset: `--path ../evalset`";
    match clone {
        Some(clone) => {
            // Either the clone or the crate in it.
            let found = [clone.join("eval-core"), clone.to_path_buf()].iter().find_map(|it| crate_at(it));
            let message = format!("there is no eval-core in `{}`", shown(clone));
            found.ok_or_else(|| CommandError::new(message, help))
        }
        None => {
            let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("eval-core");
            let message = "the clone that this program was built in is not there any more";
            crate_at(&built_in).ok_or_else(|| CommandError::new(message, help))
        }
    }
}

/// The folder, if it holds the crate.
fn crate_at(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    manifest.lines().any(|line| line.trim() == "name = \"eval-core\"").then_some(folder)
}

/// The dependency on eval-core, for the package in a folder.
pub(super) fn dependency(package: &Path, runtime: &Path) -> (&'static str, String) {
    let package = fs::canonicalize(package).unwrap_or_else(|_| package.to_path_buf());
    let path = relative(&package, runtime).display().to_string();
    // Windows reads both, and a checkout may be used on several systems.
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path };
    (NAME, format!("{{ path = {} }}", toml_edit::Value::from(path)))
}

/// How one folder is reached from another: from above both, if they have more in common than the root.
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
}
