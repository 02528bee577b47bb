#!/usr/bin/env python3
"""New users go by the pages, each from an empty folder to a green job, a red one, and a page.

    walk.py [rust] [pydantic] [adk] [traces] [rig] [models] [--bin FILE] [--python PYTHON] [--wheel FILE] [--show]

Without a name, all of them go. `--bin`, or else EVALSET_BIN, names the built command, which has `evalset` beside it; otherwise it
is target/debug/cargo-evalset. The line that installs it counts as one command. PYTHON has the packages of
python/tests/requirements.txt. `pydantic` installs the wheel; without one, the package of this folder takes its place. `adk`
takes twenty files of EVALSET_CORPUS, a folder of eval sets, or else the sets of samples/. `traces` takes the files of
EVALSET_FRAMEWORK_TRACES, or else makes some. `models` are three: of pydantic-ai, behind ADK's server, and in Rust. `rust`, `rig`
and `models` build below the target folder, the last two for minutes. With `--show`, the output of the commands is printed.
"""

import argparse
import importlib
import os
import sys
from pathlib import Path

from user import ROOT, User

WALKS = {
    "rust": "rust_closure",
    "pydantic": "python_pydantic_ai",
    "adk": "adk_server",
    "traces": "stored_traces",
    "rig": "rust_rig",
    "models": "recorded_models",
}


def main():
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--bin", type=Path, default=os.environ.get("EVALSET_BIN", target / "debug" / "cargo-evalset"))
    parser.add_argument("--python", type=Path, default=sys.executable)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    User.shows = given.show
    if unknown := set(given.names) - set(WALKS):
        parser.error(f"no walk is named {', '.join(sorted(unknown))}; there are {', '.join(WALKS)}")
    given.bin = Path(given.bin).absolute()
    for program in [given.bin, given.bin.with_name("evalset")]:
        if not program.is_file():
            parser.error(f"there is no {program}: build it with `cargo build -p cargo-evalset`")
    # A link to the interpreter is kept: its folder is the one of its environment.
    given.python = Path(os.path.abspath(given.python))
    given.wheel = given.wheel and given.wheel.absolute()
    # Built once for both walks, and by the examples.
    given.target = target / "examples"
    for name in WALKS:
        if not given.names or name in given.names:
            try:
                importlib.import_module(WALKS[name]).walk(given)
            except AssertionError as error:
                sys.exit(f"walk {name} fails: {error}")


main()
