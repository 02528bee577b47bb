#!/usr/bin/env python3
"""Holds that google-adk and the commands that edit sets keep the keys `_expect`, `_criteria` and `_tools` of cases.

    tests/adk/keys.py PYTHON CARGO_EVALSET

PYTHON is a Python that has google-adk, as for `compare.py`; CARGO_EVALSET is the program of eval-cli. google-adk loads a set
with these keys, updates a case and saves the set (`keys_in_adk.py`), and again. It scores a call strictly where `_expect` says `date`,
and an answer by the threshold of the config where `_criteria` has a lower one. `criteria` without `_` is a mistake.
`fmt`, `rename-case` and `remove-case` keep the keys. `migrate` refuses an old file that has them, and writes nothing.

google-adk loads and saves a set that `review` changed, and finds what was accepted (`reviewed_in_adk.py`).
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
CRITERIA = {"response_match_score": 0.4}
CONFIG = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}
ALL = (EXPECT, CRITERIA, TOOLS)
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
    return {"eval_id": eval_id, "conversation": [turn], "_expect": EXPECT, "_criteria": CRITERIA, "_tools": TOOLS}


def keys(path):
    """The keys of each case by its id."""
    cases = json.loads(path.read_text())["eval_cases"]
    return {case["eval_id"]: tuple(case.get(key) for key in ("_expect", "_criteria", "_tools")) for case in cases}


def hold(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found!r}, and not {expected!r}")
    print(f"{what}: as expected")


def command(evalset, folder, *arguments, code=0):
    run = subprocess.run([evalset, *arguments], cwd=folder, text=True, capture_output=True, check=False)
    if run.returncode != code:
        sys.exit(f"{arguments} ended with {run.returncode}: {run.stdout}{run.stderr}")
    return run


def kept(python, evalset, folder):
    """The keys, through google-adk and the commands that edit sets."""
    path = folder / "app" / "weather.evalset.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"eval_set_id": "weather", "eval_cases": [case("one"), case("two")]}))
    (path.parent / "test_config.json").write_text(json.dumps(CONFIG))

    def in_adk():
        adk = [python, HERE / "keys_in_adk.py", folder, DAYS["made"]]
        return json.loads(subprocess.run(adk, text=True, stdout=subprocess.PIPE, check=True).stdout)

    found = in_adk()
    hold("google-adk's score of another day, and of the same", found["scores"], [0.0, 1.0])
    hold("google-adk's verdict on a shorter answer, and on the same", found["statuses"], ["FAILED", "PASSED"])
    hold("google-adk keeps the keys", keys(path), {"one": ALL, "two": ALL})
    once = path.read_text()
    in_adk()
    hold("google-adk saves the same again", path.read_text() == once, True)
    command(evalset, path.parent, "check", path.name)
    command(evalset, path.parent, "fmt", path.name)
    hold("fmt keeps the keys", keys(path), {"one": ALL, "two": ALL})
    command(evalset, path.parent, "rename-case", f"{path.name}:one", "first")
    hold("rename-case keeps the keys", keys(path), {"first": ALL, "two": ALL})
    command(evalset, path.parent, "remove-case", f"{path.name}:two")
    hold("remove-case keeps the keys of others", keys(path), {"first": ALL})

    misspelt = path.parent / "misspelt.evalset.json"
    misspelt.write_text(path.read_text().replace('"_criteria"', '"criteria"'))
    said = command(evalset, path.parent, "check", misspelt.name, code=1)
    hold("`criteria` of a case is a mistake", all(key in said.stdout for key in ("`criteria`", "`_criteria`")), True)

    old = path.parent / "old.test.json"
    old.write_text(json.dumps([{"name": "c", "data": [{"query": "Hi"}], "_expect": EXPECT, "_tools": TOOLS}]))
    said = command(evalset, path.parent, "migrate", old.name, "new.evalset.json", code=1)
    named = all(f"[0].{key}" in said.stdout + said.stderr for key in ("_expect", "_tools"))
    hold("migrate loses no key", (named, (path.parent / "new.evalset.json").exists()), (True, False))


AGENT = """
import json, sys

def say(**message):
    print(json.dumps(message), flush=True)

say(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        say(type="started")
    elif message["type"] == "turn":
        say(type="tool_call", name="get_weather", args={"city": "Oslo", "day": "2026-11-23"}, result={"sky": "clear"})
        say(type="text", text="Sunny and warm.")
        say(type="turn_end")
"""


def reviewed(python, evalset, folder):
    """A set of two failing cases: of one the new behaviour is accepted, of the other a rule lets the day vary."""
    path = folder / "weather.evalset.json"
    plain = [{key: it for key, it in case(name).items() if not key.startswith("_")} for name in ("taken", "loosened")]
    plain[1]["conversation"][0]["final_response"]["parts"][0]["text"] = "Sunny and warm."
    path.write_text(json.dumps({"eval_set_id": "weather", "eval_cases": plain}, indent=2))
    (folder / "test_config.json").write_text(json.dumps(CONFIG))
    (folder / "agent.py").write_text(AGENT)
    run = ("run", path.name, "--agent-cmd", f"{sys.executable} agent.py", "--runs", "2")
    command(evalset, folder, *run, code=1)
    for eval_id, kind in (("taken", "accept"), ("loosened", "loosen")):
        items = json.loads(command(evalset, folder, "review", "--list", "--format", "json").stdout)["items"]
        choice = next(item for item in items if item["eval_id"] == eval_id)[kind][0]
        command(evalset, folder, "review", "--accept", f"{choice['id']}@{choice['hash']}")
    command(evalset, folder, "check", path.name)
    command(evalset, folder, *run)
    written = json.loads(path.read_text())["eval_cases"]
    hold("review writes a rule", [("_expect" in case) for case in written], [False, True])

    adk = [python, HERE / "reviewed_in_adk.py", path]
    found = json.loads(subprocess.run(adk, text=True, stdout=subprocess.PIPE, check=True).stdout)
    expected = [["Sunny and warm.", "2026-11-23"], ["Sunny and warm.", "2026-11-22"]]
    hold("google-adk reads what was accepted, and saves the same again", found, {"cases": expected, "is_same": True})
    kept = [case.get("_expect") for case in json.loads(path.read_text())["eval_cases"]]
    hold("google-adk keeps the rule", kept, [case.get("_expect") for case in written])
    command(evalset, folder, *run)


def main():
    parser = argparse.ArgumentParser(description="Holds that the keys of cases are kept.")
    parser.add_argument("python", help="a Python that has google-adk")
    parser.add_argument("evalset", type=pathlib.Path, help="the program of eval-cli")
    options = parser.parse_args()
    evalset = options.evalset.resolve()
    for part in (kept, reviewed):
        with tempfile.TemporaryDirectory() as folder:
            part(options.python, evalset, pathlib.Path(folder))


main()
