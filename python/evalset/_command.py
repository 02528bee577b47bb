"""The command `evalset` in another process, and the sets below a folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ENDS = (".evalset.json", ".test.json")
NAME_IT = "let --evalset-command, or `evalset_command` in the ini file, name the command"


class EvalsetError(Exception):
    """Why there is no verdict, or what a failed case says."""


def run_command(command: str | None, words: Iterable[str], here: Path, paths: Iterable[Path]) -> tuple[dict[str, Any], int]:
    """Runs the command with these words in a folder; its document and its exit code.

    Without a command, it is the one beside this Python, or on the PATH. Modules are found in the paths first.
    """
    beside = shutil.which("evalset", path=str(Path(sys.executable).parent))
    command = command or beside or shutil.which("evalset")
    if command is None:
        raise EvalsetError(f"no command `evalset` is beside {sys.executable} or on the PATH; install the package, or {NAME_IT}")
    first = os.pathsep.join([*map(str, paths), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    command_line = [command, *words, "--format", "json"]
    try:
        env = {**os.environ, "PYTHONPATH": first}
        done = subprocess.run(command_line, cwd=here, env=env, capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise EvalsetError(f"cannot run `{command}`: {error}; {NAME_IT}") from None
    try:
        document: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        document = {}
    # Another program may print JSON too.
    if not isinstance(document, dict) or document.keys().isdisjoint({"error", "cases", "sets"}):
        text = f"`{command} {command_line[1]}` ended with {done.returncode}, without a report; if it is another program, {NAME_IT}"
        raise EvalsetError(f"{text}\n{done.stderr}".rstrip())
    if "error" in document:
        raise EvalsetError(f"{document['error']['message']}\n  help: {document['error']['help']}")
    return document, done.returncode


def shown_in(here: Path, path: Path) -> Path:
    """A path as the user would type it in a folder."""
    return path.relative_to(here) if path.is_relative_to(here) else path


def no_item_of(path: Path, root: Path, passed_over: list[str]) -> str:
    """Why a path gave pytest no case, and what helps. Below the root pytest passes over folders of these patterns."""
    found = [path] if path.is_file() else [one for end in ENDS for one in path.rglob(f"*{end}")]
    if not found:
        return f"it has no file with a name that ends with {' or '.join(ENDS)}; rename the set, or name its file"
    for folder in [folder for one in found for folder in one.parents if folder.is_relative_to(root)]:
        if any(fnmatch(folder.name, pattern) for pattern in passed_over):
            return f"pytest does not look into `{folder}`; move the sets, or set `norecursedirs` in the ini file"
    return f"there are no cases in its sets, or an option of pytest leaves them out; see `evalset list {path}`"
