//! Starting a test again in another process, with other variables.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that names the folder that the processes of a test share. It is set in the processes that a test
/// starts.
pub(crate) const SHARED: &str = "MODEL_JUDGE_TEST_SHARED";

/// A test of this program in a process of its own.
pub(crate) fn start(test: &str, shared: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(SHARED, shared);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// An empty folder for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
