"""What the campaigns share: a project with two sets, its test binary, `cargo evalset`, and reading a journal without it."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

WORKSPACE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(WORKSPACE / "benches"))

import cases  # noqa: E402
import measure  # noqa: E402

TEST = """
use std::time::Duration;

use eval_core::{Agent, BoxError, Turn, eval_set};

struct Slow;

impl Agent for Slow {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        tokio_sleep(Duration::from_millis(5)).await;
        evals::Shop.turn(turn).await
    }
}

async fn tokio_sleep(time: Duration) {
    eval_core::__private::tokio::time::sleep(time).await;
}

#[eval_set("evals/orders.evalset.json")]
fn orders() -> impl Agent {
    Slow
}

#[eval_set("evals/refunds.evalset.json"%s)]
fn refunds() -> impl Agent {
    Slow
}
"""


def program():
    """`cargo evalset`: what CARGO_EVALSET names, else built here."""
    if named := os.environ.get("CARGO_EVALSET"):
        return named
    subprocess.run(["cargo", "build", "--locked", "--release", "-p", "cargo-evalset"], cwd=WORKSPACE, check=True)
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", WORKSPACE / "target")) / "release" / "cargo-evalset"


class Campaign:
    """The project, built, and the program under test."""

    def __init__(self, name, orders, refunds, arguments=""):
        self.total = orders + refunds
        self.project = measure.Project("evals", f"campaign_{name}")
        for file, count in (("orders", orders), ("refunds", refunds)):
            self.project.write(f"evals/{file}.evalset.json", cases.as_json(cases.eval_set(count)))
        self.project.write("tests/evals.rs", TEST % arguments)
        built = subprocess.run(
            ["cargo", "test", "--locked", "--no-run", "--test", "evals", "--message-format", "json"],
            cwd=self.project.folder, env=measure.environment(CARGO_TARGET_DIR=str(self.project.target)),
            stdout=subprocess.PIPE, check=True,
        )
        messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith(b"{")]
        self.binary = next(m["executable"] for m in messages if m.get("executable") and m["target"]["kind"] == ["test"])
        # A copy, so that work on this project does not change it in the middle.
        self.program = shutil.copy(program(), measure.TARGET / f"cargo-evalset-{name}")
        self.runs = measure.TARGET / f"campaign_{name}"

    def environment(self, run, **more):
        folder = str(self.project.folder)
        return measure.environment(
            CARGO_TARGET_DIR=str(self.project.target), CARGO_MANIFEST_DIR=folder, EVALSET_DIR=str(self.runs),
            EVALSET_RUN_ID=run, **more,
        )

    def evalset(self, *arguments, run="none"):
        """What `cargo evalset` prints, and its exit code. It must not panic."""
        done = subprocess.run(
            [self.program, *arguments], cwd=self.project.folder, env=self.environment(run),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=60,
        )
        said = done.stderr.decode(errors="replace")
        if "panicked" in said or done.returncode not in (0, 1, 2):
            raise AssertionError(f"{arguments}: exit code {done.returncode}\n{said}")
        return done.returncode, done.stdout.decode()


def verdicts(folder):
    """The verdict of each test by its name, read from the complete lines of a run; `None` for a test without one."""
    found = {}
    for file in sorted(folder.glob("*.jsonl")):
        names = {}
        for line in file.read_bytes().split(b"\n")[:-1]:
            record = json.loads(line)
            if record["record"] == "started":
                names[record["test"]] = record["name"]
                found.setdefault(record["name"], None)
            elif record["record"] == "decided":
                verdict = record["verdict"]
                found[names[record["test"]]] = verdict if isinstance(verdict, str) else verdict["is"]
    return found
