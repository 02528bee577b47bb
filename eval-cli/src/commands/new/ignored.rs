//! The line of `.gitignore` for cargo's target folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const LINE: &str = "/target";

/// Adds the target folder to the `.gitignore` beside it, unless git ignores it already. `is_new` says that the package was
/// made just now. Returns what was done, in words; an error changes nothing.
pub(super) fn ignore_target(
    package: &Path,
    target: Option<&Path>,
    is_new: bool,
) -> io::Result<Option<String>> {
    // The folder is in the workspace. One of another name or place is one that the user chose.
    let beside = |folder: &&Path| folder.join("Cargo.toml").is_file() && package.starts_with(folder);
    let plain = target.filter(|target| target.ends_with("target")).and_then(Path::parent);
    let of_new = Some(package).filter(|_| is_new);
    let Some(folder) = of_new.or(plain.filter(beside)) else { return Ok(None) };
    let file = folder.join(".gitignore");
    let before = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let is_ignored = match git_ignores(folder) {
        Some(is_ignored) => is_ignored,
        // Without git, an existing package is left as it is.
        None => !is_new || has_line(&before),
    };
    if is_ignored {
        return Ok(None);
    }
    let is_there = fs::symlink_metadata(&file).is_ok();
    let end = if before.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
    let gap = if before.is_empty() || before.ends_with(b"\n") { "" } else { end };
    let mut file = OpenOptions::new().append(true).create(true).open(&file)?;
    file.write_all(format!("{gap}{LINE}{end}").as_bytes())?;
    Ok(Some(format!("`{LINE}` {} `.gitignore`", if is_there { "to" } else { "to a new" })))
}

/// Whether git ignores the target folder here; `None` if that cannot be asked, as there is no repository or no git.
fn git_ignores(folder: &Path) -> Option<bool> {
    let mut git = Command::new("git");
    git.args(["check-ignore", "--quiet", "target/"]).current_dir(folder);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match git.status().ok()?.code()? {
        0 => Some(true),
        1 => Some(false),
        _ => None,
    }
}

/// Whether a `.gitignore` has a line for the target folder.
fn has_line(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.lines().any(|line| matches!(line.trim(), "target" | "/target" | "target/" | "/target/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(ignored: Option<&str>) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("Cargo.toml"), "").expect("a file");
        if let Some(text) = ignored {
            fs::write(folder.path().join(".gitignore"), text).expect("a file");
        }
        folder
    }

    fn git(folder: &Path) -> bool {
        let init = Command::new("git").args(["init", "--quiet"]).current_dir(folder).status();
        init.is_ok_and(|status| status.success())
    }

    #[test]
    fn only_what_is_missing_is_added() {
        for (is_new, is_repository, before, after) in [
            (true, false, None, Some("/target\n")),
            (true, false, Some("*.log"), Some("*.log\n/target\n")),
            (true, false, Some("*.log\r\n"), Some("*.log\r\n/target\r\n")),
            (true, false, Some("target/\n"), Some("target/\n")),
            (false, false, None, None),
            (false, false, Some("*.log\n"), Some("*.log\n")),
            (false, true, None, Some("/target\n")),
            (false, true, Some("*.log\n"), Some("*.log\n/target\n")),
            (false, true, Some("tar*\n"), Some("tar*\n")),
            (true, true, Some("**/target\n"), Some("**/target\n")),
        ] {
            let folder = package(before);
            let package = folder.path();
            if is_repository && !git(package) {
                continue;
            }
            let said =
                ignore_target(package, Some(&package.join("target")), is_new).expect("it can be written");
            let now = fs::read_to_string(package.join(".gitignore")).ok();
            assert_eq!(now.as_deref(), after, "{before:?}, {is_new}, {is_repository}");
            assert_eq!(said.is_some(), before != after, "{before:?}: {said:?}");
        }
    }

    #[test]
    fn a_target_folder_of_another_name_or_place_is_left_to_the_user() {
        let (folder, elsewhere) = (package(None), package(None));
        for target in [None, Some(folder.path().join("build")), Some(elsewhere.path().join("target"))] {
            assert_eq!(ignore_target(folder.path(), target.as_deref(), false).expect("nothing to do"), None);
            assert!(!folder.path().join(".gitignore").exists());
        }
    }
}
