"""Traces of agents of frameworks: looked at, made cases of, and scored."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from user import ROOT, User, hold, shown, step

FRAMEWORKS = ROOT / "tests" / "otlp" / "frameworks"
# Runs of tests/otlp/frameworks that are made if there are no files: a script with its options.
RUNS = [
    "google_adk.py turns",
    "pydantic_ai_agent.py turns",
    "openai_agents_runner.py turns responses",
    "langchain_agent.py turns agent",
]
SET = "evals/support.evalset.json"


def files(user, given):
    """Files of traces, each of one run."""
    if folder := os.environ.get("EVALSET_FRAMEWORK_TRACES"):
        found = sorted([*Path(folder).rglob("*.otlp.json"), *Path(folder).rglob("traces.jsonl")])
        hold(found, f"{folder} has no traces")
        return found
    for run in RUNS:
        script, *options = run.split()
        made = user.place / "frameworks" / script.removesuffix(".py")
        made.mkdir(parents=True)
        env = {**os.environ, "PYTHONWARNINGS": "ignore", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY"}
        done = subprocess.run([given.python, FRAMEWORKS / script, *options], cwd=made, env=env, capture_output=True, text=True)
        hold(done.returncode == 0, f"{run}: {done.stderr}")
    return sorted((user.place / "frameworks").glob("*/traces.jsonl"))


def walk(given):
    user = User("traces", given.bin)
    found = files(user, given)
    user.installs(shown("README.md", 'cargo install --locked --git "$EVALSET_REPOSITORY" cargo-evalset'))

    look = shown("README.md", "cargo evalset traces traces.jsonl")
    whole, ways = [], 0
    for path in found:
        shutil.copyfile(path, user.folder / "traces.jsonl")
        ended, said = user.run(look)
        hold(ended == int(bool(re.search(r"^ +lost ", said, re.MULTILINE))), f"`{look}` ended with {ended}:\n{said}")
        hides = re.search(r"lost +(user|answer|arguments)_not_captured", said)
        hold(bool(hides) == ("docs/traces.md says what to set" in said), said)
        # A failed turn is an ERROR of its case.
        if ended == 0 and not re.search(r"^ +failed ", said, re.MULTILINE):
            whole.append(path)
    hold(whole, f"each of {len(found)} files lacks something")

    # The first whole file is the user's. The others go the same way, and the last of them goes on.
    for path in whole:
        shutil.copyfile(path, user.folder / "traces.jsonl")
        (user.folder / SET).unlink(missing_ok=True)
        user.types(look, says=["conversation ", "turn 1", "    answer "])
        user.types(shown("README.md", "cargo evalset import traces.jsonl"), says=["added ", "cargo evalset accept "])
        user.types(shown("README.md", "cargo evalset accept support"), yes=True, says=["accepted "])
        cases = [case["eval_id"] for case in json.loads((user.folder / SET).read_text())["eval_cases"]]
        run = shown("README.md", "cargo evalset run support --trace traces.jsonl")
        user.types(run, result=f"{len(cases)} passed")
        ways += len(cases)
    print(f"{len(found)} files, {len(whole)} of them whole: {ways} cases passed", flush=True)

    tests = step("--trace")
    user.job(tests, cases)
    # A later trace, of an agent that answers otherwise.
    answer = json.loads((user.folder / SET).read_text())["eval_cases"][-1]["conversation"][-1]["final_response"]["parts"][0]["text"]
    text = (user.folder / "traces.jsonl").read_text()
    user.writes("traces.jsonl", re.sub(re.escape(answer), "No idea.", text))
    log = user.job(tests, cases, failed=cases[-1])
    for words in ["response_match_score is ", f"expected  {answer}", "actual    No idea.", "new golden    cargo evalset import "]:
        hold(words in log, f"{words!r} is not in {log}")
    user.ends()
