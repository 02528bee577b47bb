//! A temporary folder for a test, and running the program in it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use tempfile::TempDir;

/// Removed when dropped.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let prefix = format!("evalset-cli-{test}-");
        Self(tempfile::Builder::new().prefix(&prefix).tempdir().expect("a folder for the test"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a name has a folder")).expect("a folder for the file");
        fs::write(path, content).expect("a file for the test");
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the file is there and is text")
    }

    /// The names in the folder, including hidden ones.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder is there");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_cargo-evalset"), args)
    }

    /// The command under one of its names.
    pub(crate) fn command_of(&self, program: &str, args: &[&str]) -> Command {
        let mut command = plain(program.as_ref());
        command.args(args).current_dir(self.0.path());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().expect("the program runs").into()
    }
}

/// `PATH` with the folder of the Python interpreter in front, where `python3` is the shim of a version manager. A shim takes three
/// times as long to start as the interpreter, and a test of the gate starts hundreds.
static PATH: LazyLock<OsString> = LazyLock::new(|| {
    let path = env::var_os("PATH").unwrap_or_default();
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let interpreter = asked.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let Some(folder) = Path::new(interpreter.trim_end()).parent() else { return path };
    if !folder.is_absolute() || env::split_paths(&path).any(|it| it == folder) {
        return path;
    }
    env::join_paths([folder.to_owned()].into_iter().chain(env::split_paths(&path))).unwrap_or(path)
});

/// The agent `agent.py` of a folder. Without the packages of the site Python starts in less than half the time, and a test of the
/// gate starts it hundreds of times.
pub(crate) const AGENT: &str = "python3 -I -S agent.py";

/// A command without the variables of this machine that change its output.
pub(crate) fn plain(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("PATH", &*PATH);
    for name in [
        "CI",
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "CARGO_MANIFEST_DIR",
        "CARGO_TARGET_DIR",
        "EVALSET_DIR",
        "EVALSET_JUDGE",
        "EVALSET_PYTHON",
        "EVALSET_REPOSITORY",
        "EVALSET_RUN_ID",
        "NEXTEST_RUN_ID",
    ]
    .into_iter()
    .chain(eval_core::journal::JOB_VARIABLES)
    {
        command.env_remove(name);
    }
    command
}

/// The output of the program, and its exit code.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program prints UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    /// Everything a user sees, for a snapshot.
    pub(crate) fn shown(&self) -> String {
        let code = self.code.map_or("by a signal".to_owned(), |code| code.to_string());
        format!("{}{}(exit code {code})", self.out, self.err)
    }
}

/// The samples of the project. A link in this folder leads to them, so that the package of the crate has them too.
pub(crate) fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

/// A program in Python that is an agent. `setup` runs once; `turn` runs for each `text` of the user and answers with `say`.
pub(crate) fn program(setup: &str, turn: &str) -> String {
    let (setup, turn) = (setup.trim(), turn.trim().replace('\n', "\n        "));
    format!(
        r#"
import json, os, sys

def say(**message):
    print(json.dumps(message), flush=True)

{setup}
say(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        say(type="started")
    elif message["type"] == "turn":
        text = message["content"]["parts"][0]["text"]
        {turn}
        say(type="turn_end")
"#
    )
}

/// An eval set with one case of one turn. `case` is inserted at the end of the case.
pub(crate) fn set(case: &str) -> String {
    format!(
        r#"{{
  "eval_set_id": "weather",
  "eval_cases": [
    {{
      "eval_id": "sunny",
      "conversation": [{{ "user_content": {{ "parts": [{{ "text": "Weather?" }}] }}, "final_response": {{ "parts": [{{ "text": "Sunny." }}] }} }}]{case}
    }}
  ]
}}
"#
    )
}
