#!/usr/bin/env python3
"""Compares this project's arithmetic with google-adk's on random cases.

    tests/adk/compare.py PYTHON [--cases N] [--seed N] [--kind KIND ...] [--keep FILE]

PYTHON is a Python that has google-adk:

    python3.11 -m venv adk && adk/bin/pip install "google-adk[eval]==2.13.0"
    tests/adk/compare.py adk/bin/python

Every case goes to google-adk (`oracle.py`) and, with the answer, to the test `score::tests::adk` of
eval-core, which computes the same and reports every difference. ROUGE-2 and ROUGE-L, which ADK does
not use, are those of its dependency rouge-score. Characters that the Python does not know yet, or
knows otherwise, are drawn in the kind `unassigned` alone: this side has newer tables, and compares
those that it does not know either. Recorded events (`turns`) become turns as in ADK, but for events
that are parts of a streamed one: docs/differences.md says what becomes of them.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from cases import Drawer

# Later versions of Unicode than 14 changed whether these count as letters with case, which shows in a
# sigma beside them: a pharyngeal, its superscript, an Ahom sign.
CHANGED = {0x0295, 0x02E4, 0x1171E}

HERE = pathlib.Path(__file__).parent
WORKSPACE = HERE.parent.parent


def characters(assigned):
    """Every character that the Python knows, between others that it could affect."""
    for first, last in assigned:
        for c in map(chr, range(first, last + 1)):
            yield f"{c} x{c}y aΣ{c} aΣ{c}b {c}Σ a{c}Σ 가{c} ส{c} e\u0301{c}\u0323 running{c}"


def without(known, codes):
    """A range of code points, first and last, in the parts that some codes leave of it."""
    first, last = known
    for code in sorted(codes):
        if first <= code <= last:
            if first < code:
                yield first, code - 1
            first = code + 1
    if first <= last:
        yield first, last


def kinds(drawer, assigned):
    """For each kind of case a function that draws one, or all the cases there are."""
    return {
        "characters": list(characters(assigned)),
        "tokens": drawer.text,
        "unassigned": drawer.unassigned,
        "rouge": drawer.pair,
        "rouge_ascii": drawer.ascii_pair,
        "rouge_unicode": drawer.pair,
        "stems": drawer.word,
        "means": drawer.numbers,
        "rounding": drawer.decimal,
        "trajectories": drawer.trajectories,
        "responses": drawer.responses,
        "usage": drawer.usage,
        "turns": drawer.events,
    }


def named(value):
    """JSON for a value; numbers that JSON has no text for by name, as in `oracle.py`."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"$number": {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]}
    if isinstance(value, dict):
        return {key: named(item) for key, item in value.items()}
    return [named(item) for item in value] if isinstance(value, list) else value


def ask(python, cases):
    """The cases as google-adk answers them, one JSON text each."""
    lines = "".join(json.dumps(named(case)) + "\n" for case in cases)
    run = subprocess.run([python, HERE / "oracle.py"], input=lines, text=True, stdout=subprocess.PIPE, check=True)
    return run.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser(description="Compares scores with google-adk's on random cases.")
    parser.add_argument("python", help="a Python that has google-adk")
    parser.add_argument("--cases", type=int, default=20_000, help="cases of each kind")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--kind", action="append", help="only cases of this kind; may be repeated")
    parser.add_argument("--keep", type=pathlib.Path, help="write the cases with their answers here too")
    options = parser.parse_args()

    about = ask(options.python, [{"kind": "versions", "input": None}, {"kind": "assigned", "input": None}])
    versions, assigned = (json.loads(line)["answer"] for line in about)
    assigned = [part for known in assigned for part in without(known, CHANGED)]
    print(", ".join(f"{name} {version}" for name, version in versions.items()), f"seed {options.seed}", sep=", ")
    if [int(part) for part in versions["python"].split(".")] >= [3, 12]:
        sys.exit("Python 3.12 and later add floats in another way; use Python 3.11")

    cases = []
    for kind, source in kinds(Drawer(random.Random(options.seed), assigned), assigned).items():
        if options.kind and kind not in options.kind:
            continue
        inputs = source if isinstance(source, list) else [source() for _ in range(options.cases)]
        cases += [{"kind": kind, "input": item} for item in inputs]
    answered = [line + "\n" for line in ask(options.python, cases)]
    if options.keep:
        options.keep.write_text("".join(answered))
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(answered)
        file.flush()
        test = ["cargo", "test", "--quiet", "-p", "eval-core", "--lib", "score::tests::adk", "--", "--nocapture"]
        run = subprocess.run(test, cwd=WORKSPACE, env={**os.environ, "EVALSET_ADK_JOBS": file.name}, check=False)
    sys.exit(run.returncode)


main()
