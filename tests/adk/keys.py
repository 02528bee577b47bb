#!/usr/bin/env python3
"""Holds that google-adk and the commands that edit sets keep the keys `_expect` and `_tools` of cases.

    tests/adk/keys.py PYTHON CARGO_EVALSET

PYTHON is a Python that has google-adk, as for `compare.py`; CARGO_EVALSET is the program of eval-cli. google-adk loads a set
with both keys, updates a case and saves the set (`keys_in_adk.py`). It scores a call strictly where `_expect` says `date`.
`fmt`, `rename-case` and `remove-case` keep the keys. `migrate` refuses an old file that has them, and writes nothing.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent

EXPECT = {"1": {"calls": {"get_weather": {"day": "date"}}, "answer": {"contains": ["Sunny"]}}}
TOOLS = {"1": {"get_weather#1": {"after": 0.25, "state": {"asked": 1}}}}
DAYS = {"expected": "2026-11-22", "made": "2026-11-23"}


def case(eval_id):
    call = {"name": "get_weather", "args": {"city": "Oslo", "day": DAYS["expected"]}}
    turn = {
        "user_content": {"role": "user", "parts": [{"text": "Weather?"}]},
        "intermediate_data": {
            "tool_uses": [call],
            "tool_responses": [{"name": "get_weather", "response": {"sky": "clear"}}],
        },
        "final_response": {"role": "model", "parts": [{"text": "Sunny."}]},
    }
    return {"eval_id": eval_id, "conversation": [turn], "_expect": EXPECT, "_tools": TOOLS}


def keys(path):
    """The keys of each case by its id."""
    cases = json.loads(path.read_text())["eval_cases"]
    return {case["eval_id"]: (case.get("_expect"), case.get("_tools")) for case in cases}


def hold(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found!r}, and not {expected!r}")
    print(f"{what}: as expected")


def main():
    parser = argparse.ArgumentParser(description="Holds that the keys of cases are kept.")
    parser.add_argument("python", help="a Python that has google-adk")
    parser.add_argument("evalset", type=pathlib.Path, help="the program of eval-cli")
    options = parser.parse_args()
    evalset = options.evalset.resolve()

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "app" / "weather.evalset.json"
        path.parent.mkdir()
        path.write_text(json.dumps({"eval_set_id": "weather", "eval_cases": [case("one"), case("two")]}))

        def command(*arguments, code=0):
            run = subprocess.run([evalset, *arguments], cwd=path.parent, text=True, capture_output=True, check=False)
            if run.returncode != code:
                sys.exit(f"{arguments} ended with {run.returncode}: {run.stdout}{run.stderr}")
            return run.stdout + run.stderr

        adk = [options.python, HERE / "keys_in_adk.py", folder, DAYS["made"]]
        scores = json.loads(subprocess.run(adk, text=True, stdout=subprocess.PIPE, check=True).stdout)
        hold("google-adk's score of another day, and of the same", scores, [0.0, 1.0])
        both = (EXPECT, TOOLS)
        hold("google-adk keeps the keys", keys(path), {"one": both, "two": both})
        command("check", path.name)
        command("fmt", path.name)
        hold("fmt keeps the keys", keys(path), {"one": both, "two": both})
        command("rename-case", f"{path.name}:one", "first")
        hold("rename-case keeps the keys", keys(path), {"first": both, "two": both})
        command("remove-case", f"{path.name}:two")
        hold("remove-case keeps the keys of others", keys(path), {"first": both})

        old = path.parent / "old.test.json"
        old.write_text(json.dumps([{"name": "c", "data": [{"query": "Hi"}], "_expect": EXPECT, "_tools": TOOLS}]))
        said = command("migrate", old.name, "new.evalset.json", code=1)
        named = all(f"[0].{key}" in said for key in ("_expect", "_tools"))
        hold("migrate loses no key", (named, (path.parent / "new.evalset.json").exists()), (True, False))


main()
