#!/usr/bin/env python3
"""What rust-analyzer makes of the attribute, asked as an editor asks it.

    tests/editor/rust_analyzer.py [RUST_ANALYZER]

Without an argument `rust-analyzer` is looked for on the PATH. Each line that is printed is a claim of the
documentation, checked; the exit code tells whether all of them hold.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from client import Client

WORKSPACE = pathlib.Path(__file__).resolve().parents[2]

MANIFEST = f"""[package]
name = "shop"
version = "0.1.0"
edition = "2024"

[workspace]

[dev-dependencies]
eval-core = {{ path = {json.dumps((WORKSPACE / "eval-core").as_posix())} }}
"""

TEST = """use eval_core::{Agent, BoxError, agent_fn, eval_set};

/// The shop.
#[eval_set("evals/shop.evalset.json")]
async fn orders() -> impl Agent {
    agent_fn(|_message, _recorder| async { Ok::<_, BoxError>("Hello.") })
}
"""

ATTRIBUTE, FUNCTION = 3, 4  # lines, from 0 as the protocol counts


def eval_set(*ids):
    def turn(text):
        return {"role": "user", "parts": [{"text": text}]}

    turns = [{"user_content": turn("Hi."), "final_response": turn("Hello.")}]
    cases = [{"eval_id": eval_id, "conversation": turns} for eval_id in ids]
    return json.dumps({"eval_set_id": "shop", "eval_cases": cases})


class Editor:
    """An editor with one file open."""

    def __init__(self, command, folder):
        self.set = folder / "evals/shop.evalset.json"
        self.test = folder / "tests/evals.rs"
        for path, text in ((folder / "Cargo.toml", MANIFEST), (folder / "src/lib.rs", ""), (self.test, TEST)):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.set.parent.mkdir()
        self.set.write_text(eval_set("sunny day", "refund"), encoding="utf-8")
        self.document = {"uri": self.test.as_uri()}
        self.version = 1
        self.client = Client(command, folder, self.test)

    def type(self):
        """Adds a space to the attribute, as a person at the keyboard would."""
        self.version += 1
        text = TEST.replace('json")]', f'json"{" " * self.version})]')
        document = {**self.document, "version": self.version}
        self.client.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def ask(self, method, **extra):
        return self.client.ask(method, {"textDocument": self.document, **extra})

    def runnables(self):
        """The tests that can be run, each with the arguments of the binary and the line it is offered at."""
        found = self.ask("experimental/runnables", position=None)
        return {
            one["label"]: (one["args"]["executableArgs"][:2], one["location"]["targetRange"]["start"]["line"])
            for one in found
            if one["label"].startswith("test ")
        }

    def lenses(self):
        """The lines with a link that runs something, and what it is called."""
        found = self.ask("textDocument/codeLens")
        resolved = [lens if lens.get("command") else self.client.ask("codeLens/resolve", lens) for lens in found]
        return [
            (lens["range"]["start"]["line"], lens["command"]["arguments"][0]["label"])
            for lens in resolved
            if "Run" in lens["command"]["title"]
        ]

    def explorer(self):
        """The paths in the test explorer."""
        found = self.client.ask("experimental/discoverTest", {"testId": "evals"})
        return [test["id"] for test in found["tests"] if test["kind"] == "test"]

    def errors(self):
        return [(one["range"]["start"]["line"], one["message"]) for one in self.diagnostics()]

    def inactive(self):
        """The ranges that are greyed out since they are not compiled."""
        return [one["range"] for one in self.diagnostics() if one.get("code") == "inactive-code"]

    def diagnostics(self):
        return self.ask("textDocument/diagnostic")["items"]

    def hover(self):
        place = {"line": ATTRIBUTE, "character": len("#[eval")}
        return (self.ask("textDocument/hover", position=place) or {}).get("contents", {}).get("value", "")


def claims(editor):
    """Yields what the documentation says, and whether it is so; with what was seen where it is not."""
    tests = editor.runnables()
    sunny, refund = "test orders::sunny_day", "test orders::refund"
    yield "each case is a test that can be run", {sunny, refund} == set(tests), tests
    exact = [["orders::sunny_day", "--exact"], ["orders::refund", "--exact"]]
    yield "a case is run by its name", [tests.get(sunny, [0])[0], tests.get(refund, [0])[0]] == exact, tests
    lenses = editor.lenses()
    yield "the links of the cases stand at the attribute", {(ATTRIBUTE, sunny), (ATTRIBUTE, refund)} <= set(lenses), lenses
    yield "that of all of them stands at the function", (FUNCTION, "test-mod orders") in lenses, lenses
    paths = editor.explorer()
    yield "the test explorer lists the cases", {"evals::orders::sunny_day", "evals::orders::refund"} <= set(paths), paths
    hover = editor.hover()
    yield "the attribute shows its arguments", "`criteria(" in hover and "`runs = 3`" in hover, hover
    inactive = editor.inactive()
    yield "nothing is greyed out as inactive code", inactive == [], inactive
    errors = editor.errors()
    yield "there is nothing to complain about", errors == [], errors

    editor.set.write_text(eval_set("sunny day", "exchange"), encoding="utf-8")
    editor.type()
    tests = editor.runnables()
    yield "after an edit of the JSON and a space in the attribute the new case is there", "test orders::exchange" in tests, tests

    editor.set.write_text(eval_set("sunny day", 7), encoding="utf-8")
    editor.type()
    errors = editor.errors()
    place = "evals/shop.evalset.json:1:"
    yield (
        "a mistake in the JSON is shown at the attribute, with its place",
        any(line == ATTRIBUTE and "`eval_id` must be a string" in text and place in text for line, text in errors),
        errors,
    )


def main():
    command = shutil.which(sys.argv[1] if sys.argv[1:] else "rust-analyzer")
    if not command:
        sys.exit("there is no such rust-analyzer; name one that is not on the PATH as the argument")
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(version, flush=True)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="evalset-editor-") as folder:
        editor = Editor(os.path.abspath(command), pathlib.Path(folder).resolve())
        try:
            for claim, holds, seen in claims(editor):
                print(f"{'ok  ' if holds else 'NOT '}{claim}", flush=True)
                if not holds:
                    print(f"    seen: {seen}", flush=True)
                    wrong += 1
        finally:
            editor.client.end()
    sys.exit(1 if wrong else 0)


main()
