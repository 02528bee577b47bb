#!/usr/bin/env python3
"""Compares what this project reads of random eval sets with what google-adk reads.

    tests/adk/reading.py PYTHON [--cases N] [--seed N] [--keep FILE]

PYTHON is a Python that has google-adk; see `compare.py`. The documents are those of `documents.py`. What google-adk
saves of each, or that it refuses it, goes to the test `adk_documents` of eval-format, which reads and writes the same
and names what is meant to differ.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
WORKSPACE = HERE.parent.parent


def main():
    parser = argparse.ArgumentParser(description="Compares what is read of random eval sets with google-adk.")
    parser.add_argument("python", help="a Python that has google-adk")
    parser.add_argument("--cases", type=int, default=20_000, help="how many documents")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--keep", type=pathlib.Path, help="write the documents with their answers here too")
    options = parser.parse_args()

    print(f"seed {options.seed}")
    seeds = range(options.seed, options.seed + options.cases)
    lines = "".join(json.dumps({"kind": "document", "input": seed}) + "\n" for seed in seeds)
    run = subprocess.run(
        [options.python, HERE / "oracle.py"], input=lines, text=True, stdout=subprocess.PIPE, check=True
    )
    if options.keep:
        options.keep.write_text(run.stdout)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(run.stdout)
        file.flush()
        test = ["cargo", "test", "--quiet", "-p", "eval-format", "--test", "format", "adk_documents", "--", "--nocapture"]
        environment = {**os.environ, "EVALSET_ADK_DOCUMENTS": file.name}
        sys.exit(subprocess.run(test, cwd=WORKSPACE, env=environment, check=False).returncode)


main()
