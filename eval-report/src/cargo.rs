//! Calling cargo, and knowing without a call what it would say.

mod target;
mod targets;

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

pub use targets::{Targets, TestBinary};

/// The cargo that called this program, else the one on the path.
pub fn command() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The target folder of the workspace of the current folder; `None` if there is no workspace.
///
/// To ask cargo takes longer than to score a trace, so it is asked only where manifests and configs leave doubts.
pub fn target_directory() -> Option<PathBuf> {
    match target::of_here() {
        target::Found::Folder(folder) => Some(folder),
        target::Found::NoWorkspace => None,
        target::Found::InDoubt => metadata()?["target_directory"].as_str().map(PathBuf::from),
    }
}

/// What `cargo metadata` prints about the workspace of the current folder; `None` if there is no workspace.
///
/// Cargo is asked once, and only below a manifest. It takes longer than most commands.
pub fn metadata() -> Option<&'static Value> {
    static METADATA: LazyLock<Option<Value>> = LazyLock::new(|| {
        if !env::current_dir().ok()?.ancestors().any(|folder| folder.join("Cargo.toml").is_file()) {
            return None;
        }
        let mut command = command();
        let output =
            command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).output().ok()?;
        serde_json::from_slice(&output.stdout).ok()
    });
    METADATA.as_ref()
}
