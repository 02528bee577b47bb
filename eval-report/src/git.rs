//! The changed files of the checkout, as git tells them.

use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The time limit for git, which reads the whole work tree to find changes.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The tracked files that differ from the commit, relative to the root of the checkout. `None` without git or a checkout, and if
/// git takes too long. Git writes no index for it, and asks no file watcher.
pub fn changed_files() -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain", "-z"])
        .args(["--untracked-files=no", "--ignore-submodules=all", "--no-renames"])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let (tell, told) = mpsc::channel();
    // If git takes too long, the caller does not wait for it.
    thread::spawn(move || tell.send(git.output()));
    let output = told.recv_timeout(GIT_TIMEOUT).ok()?.ok()?;
    let files = output.stdout.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
    let files = files.map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    output.status.success().then_some(files)
}
