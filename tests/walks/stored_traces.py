"""Traces of agents of frameworks: looked at, made cases of, and scored."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from user import ROOT, User, hold, shown

FRAMEWORKS = ROOT / "tests" / "otlp" / "frameworks"
# Runs of tests/otlp/frameworks that are made if there are no files: a script with its options.
RUNS = ["google_adk.py turns", "pydantic_ai_agent.py turns", "openai_agents_runner.py turns responses", "langchain_agent.py turns agent"]
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

    whole, done = [], {}
    for path in found:
        shutil.copyfile(path, user.folder / "traces.jsonl")
        ended, said = user.run(shown("README.md", "cargo evalset traces traces.jsonl"))
        hold(ended == int("    lost " in said or "\nlost " in said), f"it ended with {ended}:\n{said}")
        if ended == 0:
            whole.append(path)
    hold(whole, f"each of {len(found)} files lacks something")

    # The first whole file is the user's; the others take the same way.
    for path in [*whole[1:], whole[0]]:
        pass
    for number, path in enumerate(whole):
        shutil.copyfile(path, user.folder / "traces.jsonl")
        (user.folder / SET).unlink(missing_ok=True)
        user.types(shown("README.md", "cargo evalset traces traces.jsonl"), says=["conversation ", "turn 1", "    answer "])
        user.types(shown("README.md", "cargo evalset import traces.jsonl"), says=["added ", "accept"])
        user.types(shown("README.md", "cargo evalset accept support"), yes=True, says=["accepted "])
        cases = [case["eval_id"] for case in json.loads((user.folder / SET).read_text())["eval_cases"]]
        done[path] = len(cases)
        run = shown("README.md", "cargo evalset run support --trace traces.jsonl")
        user.types(run, result=f"{len(cases)} passed")
    print(f"{len(found)} files, {len(whole)} of them whole, with {sum(done.values())} cases", flush=True)

    user.job(run, cases)
    # A later trace, of an agent that answers otherwise.
    answer = json.loads((user.folder / SET).read_text())["eval_cases"][-1]["conversation"][-1]["final_response"]["parts"][0]["text"]
    text = (user.folder / "traces.jsonl").read_text()
    user.writes("traces.jsonl", re.sub(re.escape(answer), "No idea.", text))
    log = user.job(run, cases, failed=cases[-1])
    for words in ["response_match_score is ", f"expected  {answer}", "actual    No idea.", "new golden    cargo evalset import "]:
        hold(words in log, f"{words!r} is not in {log}")
    user.ends()
