//! Calling cargo.

use std::env;
use std::process::Command;

use serde_json::Value;

/// The cargo that called this program, else the one on the path.
pub(crate) fn command() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// What `cargo metadata` prints about the workspace of the current folder; `None` if there is no workspace.
pub(crate) fn metadata() -> Option<Value> {
    let output =
        command().args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}
