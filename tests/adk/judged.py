#!/usr/bin/env python3
"""Compares the judged metrics with google-adk's, with a judge that replies from a script.

    tests/adk/judged.py PYTHON [--write]

PYTHON is a Python that has google-adk; see `compare.py`. The cases stand in `judged_cases.py` and the three files beside
it. What google-adk makes of them is compared with what `eval-core/tests/vectors/judged/` says, or written there. Then the test
`metric::tests::judged_vectors` of eval-core computes the same, and prints the counts and the intended differences.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import judged_cases
from judged_hallucinations import HALLUCINATIONS
from judged_simulated_user import SIMULATED_USER
from judged_vertex import VERTEX

HERE = pathlib.Path(__file__).parent
VECTORS = HERE.parent.parent / "eval-core" / "tests" / "vectors" / "judged"
WORKSPACE = HERE.parent.parent
METRICS = {
    **judged_cases.METRICS,
    "hallucinations_v1": HALLUCINATIONS,
    "per_turn_user_simulator_quality_v1": SIMULATED_USER,
    **VERTEX,
}


def answers(python):
    """For each metric its cases, each with the answer of google-adk as `adk`."""
    asked = [(metric, case) for metric, cases in METRICS.items() for case in cases]
    lines = "".join(
        json.dumps({"kind": "judged", "input": {"metric": metric, **case}}) + "\n" for metric, case in asked
    )
    run = subprocess.run([python, HERE / "oracle.py"], input=lines, text=True, stdout=subprocess.PIPE, check=True)
    answered = {metric: [] for metric in METRICS}
    for (metric, case), line in zip(asked, run.stdout.splitlines(), strict=True):
        answered[metric].append({**case, "adk": json.loads(line)["answer"]})
    return answered


def text(cases):
    """A case a line, so that a review shows which changed."""
    return "[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]\n"


def main():
    parser = argparse.ArgumentParser(description="Compares judged metrics with google-adk's.")
    parser.add_argument("python", help="a Python that has google-adk")
    parser.add_argument("--write", action="store_true", help="write the answers instead of comparing them")
    options = parser.parse_args()

    stale = []
    for metric, cases in answers(options.python).items():
        file = VECTORS / f"{metric}.json"
        if options.write:
            file.write_text(text(cases), encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != text(cases):
            stale.append(file.name)
    if stale:
        sys.exit(f"google-adk answers otherwise than {', '.join(stale)}; --write writes what it says now")
    test = ["cargo", "test", "--quiet", "-p", "eval-core", "--features", "judges", "--lib"]
    test += ["metric::tests::judged_vectors", "--", "--nocapture"]
    sys.exit(subprocess.run(test, cwd=WORKSPACE, check=False).returncode)


main()
