//! The folder for journals and locks, which all test processes of a project find.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use eval_support::variables::DIR as EVALSET_DIR;

/// The folder that `EVALSET_DIR` names, else `evalset` in the target folder that this program was built into.
///
/// `None` if the program is in no target folder. A relative path is an error: each test runs in the folder of its
/// package, so the path would name another folder for each package.
pub(crate) fn evalset_dir() -> Result<Option<PathBuf>, String> {
    if let Some(named) = named(std::env::var_os(EVALSET_DIR))? {
        return Ok(Some(named));
    }
    let program = std::env::current_exe().ok();
    let built = program.as_deref().and_then(target).map(Path::to_owned);
    Ok(built
        .or_else(|| extracted(std::env::var_os("NEXTEST_WORKSPACE_ROOT")))
        .map(|target| target.join("evalset")))
}

fn named(value: Option<OsString>) -> Result<Option<PathBuf>, String> {
    let Some(folder) = value.filter(|folder| !folder.is_empty()).map(PathBuf::from) else { return Ok(None) };
    if folder.is_absolute() {
        return Ok(Some(folder));
    }
    Err(format!(
        "`{EVALSET_DIR}` is `{}`, which is relative to the folder of each package; name an absolute path",
        folder.display()
    ))
}

/// The target folder around a program, which cargo has marked. If the folder existed before, cargo writes the
/// second mark alone.
fn target(program: &Path) -> Option<&Path> {
    let is_marked = |folder: &Path| MARKS.iter().any(|mark| folder.join(mark).is_file());
    program.ancestors().skip(1).find(|folder| is_marked(folder))
}

const MARKS: [&str; 2] = ["CACHEDIR.TAG", ".rustc_info.json"];

/// The target folder of the workspace in which nextest runs an archive. The folder of the extracted archive has no
/// mark, and it is removed after the run.
fn extracted(workspace: Option<OsString>) -> Option<PathBuf> {
    Some(PathBuf::from(workspace.filter(|root| !root.is_empty())?).join("target"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_folder_is_the_one_that_cargo_marked() {
        let root = std::env::temp_dir().join(format!("evalset-target-{}", std::process::id()));
        let deps = root.join("target/x86_64/debug/deps");
        std::fs::create_dir_all(&deps).unwrap();
        assert_eq!(target(&deps.join("weather")), None);
        for mark in MARKS {
            std::fs::write(root.join("target").join(mark), "").unwrap();
            assert_eq!(target(&deps.join("weather")), Some(root.join("target").as_path()));
            std::fs::remove_file(root.join("target").join(mark)).unwrap();
        }
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_folder_that_is_named_is_named_for_all_packages() {
        assert_eq!(named(None), Ok(None));
        assert_eq!(named(Some("".into())), Ok(None));
        let absolute = std::env::temp_dir();
        assert_eq!(named(Some(absolute.clone().into())), Ok(Some(absolute)));
        assert!(named(Some("out".into())).unwrap_err().ends_with("name an absolute path"));
    }
}
