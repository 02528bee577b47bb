#!/usr/bin/env python3
"""Real clients of models in Rust: the agents of examples/recorded-models, recorded and replayed.

    rust.py FOLDER

FOLDER is for files. A provider on loopback with random ids is recorded. The replays have none: each agent passes, a tool with
another description is an error that shows it, and a status of 429 reaches the clients.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from harness import HERE, KEYS, Check, Provider

ROOT = HERE.parents[1]
AGENTS = ["weather", "rig", "adk_rust"]
# Those whose client repeats a request after a status of 429.
REPEAT = {"weather", "adk_rust"}
BEFORE, AFTER = "Tells the weather in a city.", "Tells the weather of a city."


class Project(Check):
    def make(self):
        self.project = self.folder / "rust"
        shutil.rmtree(self.project, ignore_errors=True)
        shutil.copytree(ROOT / "examples" / "recorded-models", self.project, ignore=shutil.ignore_patterns("*.evalset.models", "target"))
        manifest = self.project / "Cargo.toml"
        manifest.write_text(manifest.read_text().replace("../../eval-core", str(ROOT / "eval-core")))
        for name in AGENTS:
            self.set(name)

    def set(self, name, **keys):
        """The case of the other clients, with these keys."""
        trip = json.loads((HERE / "trip.evalset.json").read_text())
        trip["eval_set_id"] = name
        trip["eval_cases"][0] |= keys
        (self.project / "evals" / f"{name}.evalset.json").write_text(json.dumps(trip))

    def tests(self, **variables):
        environment = {key: value for key, value in os.environ.items() if key not in KEYS and not key.startswith("EVALSET_")}
        environment |= {"CARGO_TERM_COLOR": "never", "CARGO_TARGET_DIR": str(target()), **variables}
        line = ["cargo", "test", "--tests", "--locked", "--no-fail-fast"]
        return subprocess.run(line, cwd=self.project, env=environment, capture_output=True, text=True)

    def expect_each(self, what, ran, passed, *words):
        """These agents pass, and the others are errors with these words."""
        found = dict(re.findall(r"^test (\w+)_cases::paris \.\.\. (ok|FAILED)$", ran.stdout, re.MULTILINE))
        expected = {name: "ok" if name in passed else "FAILED" for name in AGENTS}
        said = all(ran.stdout.count(word) >= len(AGENTS) - len(passed) for word in words)
        if self.hold(what, found == expected and said, f"{found}\n{ran.stdout}\n{ran.stderr}"):
            print(f"{what}: ok", flush=True)


def target():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "examples"


def main():
    check = Project(sys.executable, "cargo", sys.argv[1])
    check.make()
    with Provider(check.project) as provider:
        check.expect_each("Rust: recorded", check.tests(**provider, EVALSET_MODELS="record"), AGENTS)
    check.expect_each("Rust: replayed", check.tests(EVALSET_MODELS_UNUSED="error"), AGENTS)

    for name in AGENTS:
        check.set(name, _models={"faults": [{"at": {"turn": 1, "call": 1}, "fault": {"status": 429, "retry_after": 0.001}}]})
    check.expect_each("Rust: 429", check.tests(), REPEAT, "429")

    for name in AGENTS:
        check.set(name)
        agent = check.project / "tests" / f"{name}.rs"
        agent.write_text(agent.read_text().replace(BEFORE, AFTER))
    check.expect_each("Rust: changed", check.tests(), [], "recording error in turn 1", BEFORE, AFTER)
    check.ends()


if __name__ == "__main__":
    main()
