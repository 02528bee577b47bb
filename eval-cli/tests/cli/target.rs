//! The folder of recorded runs, which is cargo's target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::folder::plain;
use crate::run;

/// Cargo's answer in a folder.
fn asked(here: &Path, variable: (&str, &str)) -> PathBuf {
    let mut cargo = plain(env!("CARGO").as_ref());
    let output = set(cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]), variable)
        .current_dir(here)
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata");
    metadata["target_directory"].as_str().expect("a folder").into()
}

fn set<'c>(command: &'c mut Command, (name, value): (&str, &str)) -> &'c mut Command {
    if name.is_empty() { command } else { command.env(name, value) }
}

#[test]
fn runs_are_recorded_in_the_target_folder_that_cargo_says() {
    let package = "[package]\nname = \"x\"\nversion = \"0.1.0\"\n[lib]\npath = \"Cargo.toml\"\n";
    for (what, workspace, here, variable) in [
        ("a member", "[workspace]\nmembers = [\"x\"]\n", "x/evals", ("", "")),
        ("an excluded package", "[workspace]\nexclude = [\"x\"]\n", "x", ("", "")),
        ("a variable", "[workspace]\nmembers = [\"x\"]\n", "x", ("CARGO_TARGET_DIR", "named")),
        ("another variable", "[workspace]\nmembers = [\"x\"]\n", "x", ("CARGO_BUILD_TARGET_DIR", "named")),
        ("a link", "[workspace]\nmembers = [\"x\"]\n", "link", ("", "")),
    ] {
        let folder = run::folder("target");
        folder.write("Cargo.toml", workspace).write("x/Cargo.toml", package);
        folder.write("x/evals/fine.evalset.json", folder.read("evals/more/fine.evalset.json"));
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path("x/evals"), folder.path("link")).expect("a link");
        #[cfg(not(unix))]
        std::fs::create_dir(folder.path("link")).expect("a folder");
        let (here, set_file) = (folder.path(here), folder.path("x/evals/fine.evalset.json"));
        let weather = folder.path("weather.py");
        let agent = format!("python3 '{}'", weather.display());
        let mut command = folder.command(&["run", &set_file.display().to_string(), "--agent-cmd", &agent]);
        let output = set(&mut command, variable).current_dir(&here).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(0), "{what}: {}", String::from_utf8_lossy(&output.stderr));
        let target = asked(&here, variable);
        let runs = std::fs::read_dir(target.join("evalset")).map(Iterator::count).unwrap_or_default();
        assert!(runs > 0, "{what}: no run in {}", target.display());
    }
}
