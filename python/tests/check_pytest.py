#!/usr/bin/env python3
"""The plugin of pytest, with the real command: which items there are, what passes, and what a failure says.

    check_pytest.py PYTHON BINARY FOLDER

PYTHON has pytest and pytest-xdist. FOLDER gets a project.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON, BINARY, FOLDER = (Path(argument).absolute() for argument in sys.argv[1:4])

BOT = """
import evalset

@evalset.tool
def get_weather(city):
    return {"sky": "sunny"}

def agent(message):
    if message == "Break":
        raise ValueError("no weather")
    get_weather(message)
    return f"It is sunny in {message}."

def silent(message):
    return "No."
"""
CONFIG = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 1.0}}
ALL = {
    "paris": "PASSED",
    "oslo, wrong": "FAILED",
    "broken": "FAILED",
    "a.draft": "FAILED",
    "lyon": "PASSED",
    "test_own": "PASSED",
}


def case(id, city, expected=None, **more):
    call = {"name": "get_weather", "args": {"city": expected or city}}
    turn = {
        "user_content": {"parts": [{"text": city}]},
        "final_response": {"parts": [{"text": f"It is sunny in {city}."}]},
        "intermediate_data": {"tool_uses": [call]},
    }
    return {"eval_id": id, "conversation": [turn], **more}


def write(name, value):
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def project():
    shutil.rmtree(FOLDER, ignore_errors=True)
    write("bot.py", BOT)
    write("test_own.py", "def test_own(): pass\n")
    write("pytest.ini", "[pytest]\n")
    write("evals/test_config.json", CONFIG)
    cases = [
        case("paris", "Paris"),
        case("oslo, wrong", "Oslo", "Bergen"),
        case("broken", "Break"),
        case("a.draft", "Rome", _draft={"from": "x"}),
    ]
    write("evals/weather.evalset.json", {"eval_set_id": "weather", "eval_cases": cases})
    write("evals/more/other.evalset.json", {"eval_set_id": "other", "eval_cases": [case("lyon", "Lyon")]})


def pytest(*words, command=BINARY, agent="bot:agent", code=1, path=None, start=(PYTHON, "-m", "pytest")):
    """Runs pytest; the outcomes by the names of the items, and the output."""
    words = [*start, "-p", "evalset.pytest_plugin", "-rA", "--color=no", *words]
    words += ["--evalset-command", command] if command else []
    words += ["--evalset-agent", agent] if agent else []
    env = {**os.environ, "PYTHONPATH": str(HERE.parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
    env |= {"PATH": path} if path else {}
    done = subprocess.run(words, cwd=FOLDER, env=env, capture_output=True, text=True)
    assert done.returncode == code, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
    found = re.findall(r"^(PASSED|FAILED|SKIPPED|ERROR) \S+?::(.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return {name: outcome for outcome, name in found}, done.stdout + done.stderr


def main():
    project()
    outcomes, output = pytest("--evalset", "evals")
    assert outcomes == ALL, outcomes
    for text in [
        "tool_trajectory_avg_score is 0.0, below 1.0",
        '~ expected get_weather(city: "Bergen")',
        "ValueError: no weather (in agent, bot.py:10)",
        "run again     pytest 'evals/weather.evalset.json::oslo, wrong' --evalset-agent=bot:agent --evalset-command=",
        "new golden    ",
        "evalset import '20",
        "weather/oslo, wrong' --replace",
        "whole record  evalset report 20",
        "the case is a draft, and not accepted yet; review it: evalset accept ",
    ]:
        assert text in output, f"{text!r} is not in {output}"

    # The items of the named paths alone.
    more, _ = pytest("--evalset", "evals/more", code=0)
    assert more == {"lyon": "PASSED", "test_own": "PASSED"}, more
    # The worst variant of a matrix decides, whatever ran last and whatever else failed.
    for values in ("bot:agent,bot:silent", "bot:silent,bot:agent"):
        by_variant = f"--matrix agent={values}"
        varied, output = pytest("--evalset", "evals", "-k", "paris or broken", f"-oevalset_args={by_variant}", agent="{agent}")
        assert varied == {"paris": "FAILED", "broken": "FAILED"}, varied
        assert f"'-oevalset_args={by_variant}'" in output, output
    parallel, _ = pytest("--evalset", "evals", "-p", "xdist", "-n", "2")
    assert parallel == ALL, parallel
    chosen, _ = pytest("--evalset", "evals", "-k", "paris or lyon", code=0)
    assert chosen == {"paris": "PASSED", "lyon": "PASSED"}, chosen
    one, _ = pytest("evals/weather.evalset.json::paris", code=0)
    assert one == {"paris": "PASSED"}, one
    again, _ = pytest("--evalset", "evals", "--evalset-args", "--metric response_match_score", "-k", "oslo", code=0)
    assert again == {"oslo, wrong": "PASSED"}, again
    # From the ini file, with the sets that pytest finds by itself.
    write("pytest.ini", f"[pytest]\nevalset_agent = bot:agent\nevalset_command = {BINARY}\n")
    configured, _ = pytest(agent=None, command=None)
    assert configured == ALL, configured
    for words, text in [
        (["--evalset", "evals", "--evalset-args=--user 'anna"], "evalset_args has an open quote, \"--user 'anna\": No closing quotation"),
        (["--evalset", "evals/weather.evalset.json::paris"], "there is no such file or folder; give items as arguments of pytest"),
    ]:
        _, output = pytest(*words, code=4)
        assert text in output and "Traceback" not in output, output
    # Each path gives an item, or nothing runs.
    weather = json.loads((FOLDER / "evals/weather.evalset.json").read_text())
    write("build/x/weather.evalset.json", weather)
    write(".hidden/weather.evalset.json", weather)
    write("misnamed/weather.json", weather)
    write("empty/none.evalset.json", {"eval_set_id": "none", "eval_cases": []})
    for path, text in [
        ("build/x/weather.evalset.json", f"pytest does not look into `{FOLDER}/build`; move the sets, or set `norecursedirs` in the ini"),
        ("build", "pytest does not look into"),
        (".hidden", f"pytest does not look into `{FOLDER}/.hidden`"),
        ("misnamed", "it has no file with a name that ends with .evalset.json or .test.json; rename the set, or name its file"),
        ("empty", f"there are no cases in its sets, or an option of pytest leaves them out; see `evalset list {FOLDER}/empty`"),
    ]:
        outcomes, output = pytest("--evalset", "evals", "--evalset", path, "-k", "paris or own", code=4)
        assert not outcomes and f"--evalset {FOLDER / path}: {text}" in output and "Traceback" not in output, output
    _, output = pytest("--evalset", "misnamed", "-p", "xdist", "-n", "2", code=2)
    assert f"--evalset {FOLDER}/misnamed: it has no file" in output and "INTERNALERROR" not in output, output
    for path in ("build", ".hidden", "misnamed", "empty"):
        shutil.rmtree(FOLDER / path)
    # Those that passed are left out.
    last, _ = pytest("--evalset", "evals/more", "--evalset", "evals/weather.evalset.json", "--lf", code=1)
    assert last == {name: "FAILED" for name in ("oslo, wrong", "broken", "a.draft")}, last
    # A set with errors says so, and what shows them.
    write("broken/bad.evalset.json", {"eval_set_id": "b", "eval_cases": [{"eval_id": 3}]})
    _, output = pytest("--evalset", "broken", code=2)
    for text in ["`broken/bad.evalset.json` has ", "  help: `", "evalset check broken/bad.evalset.json` shows them"]:
        assert text in output, f"{text!r} is not in {output}"
    assert "Traceback" not in output and "IndexError" not in output, output
    shutil.rmtree(FOLDER / "broken")
    write("pytest.ini", "[pytest]\n")
    without, _ = pytest(agent=None, code=0)
    assert without == {"test_own": "PASSED"}, without

    # Nothing passes that did not run.
    for words, code, text in [
        ({"agent": "bot:agnt"}, 1, "has no `agnt`, as `bot:agnt` says"),
        ({"command": FOLDER / "missing"}, 2, "cannot run"),
        ({"command": FOLDER / "missing"}, 2, "let --evalset-command, or `evalset_command` in the ini file, name the command"),
        ({"command": "/bin/false"}, 2, "ended with 1, without a report; if it is another program, let --evalset-command"),
        ({"command": None, "path": "/nowhere"}, 2, "or on the PATH; install the package, or let --evalset-command"),
        ({"agent": None}, 4, "--evalset needs --evalset-agent my_module:agent"),
    ]:
        outcomes, output = pytest("--evalset", "evals", "-k", "paris", code=code, **words)
        assert "paris" not in outcomes or outcomes["paris"] == "FAILED", outcomes
        assert text in output, f"{text!r} is not in {output}"
    write("evalset.py", "")
    # With `python -m pytest` pytest itself says that its plugin is hidden.
    _, output = pytest("--evalset", "evals", "-k", "paris", start=[PYTHON.parent / "pytest"])
    assert f"{FOLDER / 'evalset.py'} hides the package `evalset`; rename it" in output, output
    (FOLDER / "evalset.py").unlink()
    write(
        "evalset",
        f'#!/bin/sh\n[ $1 = list ] && exec {BINARY} "$@"\necho \'{{"command": "report", "cases": [], "problems": []}}\'\n',
    )
    (FOLDER / "evalset").chmod(0o755)
    outcomes, output = pytest("--evalset", "evals", "-k", "paris", command=FOLDER / "evalset")
    assert "the run has no result of the case" in output, output
    print("the items of pytest have the verdicts of the command")


main()
