"""An agent of pydantic-ai, from the first golden of docs/python.md to the items of pytest."""

import re
import shutil
import subprocess

from user import AGENTS, ROOT, User, hold, shown, step

PAGE = "docs/python.md"
SET = "evals/weather.evalset.json"


def environment(user, given):
    """An environment of Python with the packages of PYTHON and the package `evalset`, and active."""
    venv = user.place / "venv"
    subprocess.run([given.python, "-m", "venv", venv], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    where = [given.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    paths = [subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip()]
    user.env |= {"VIRTUAL_ENV": str(venv), "PATH": f"{venv}/bin:{user.env['PATH']}"}
    if given.wheel:
        subprocess.run([venv / "bin" / "pip", "install", "--quiet", "--no-index", given.wheel], check=True)
    else:
        paths.append(str(ROOT / "python"))
        # The wheel has it as an entry point.
        user.env["PYTEST_PLUGINS"] = "evalset.pytest_plugin"
    (packages / "walk.pth").write_text("\n".join(paths) + "\n")
    # The programs of PYTHON, such as pytest, would run with its own packages.
    (venv / "bin" / "pytest").write_text(f'#!/bin/sh\nexec "{venv}/bin/python" -m pytest "$@"\n')
    (venv / "bin" / "pytest").chmod(0o755)


def walk(given):
    user = User("pydantic", given.bin, command="evalset")
    environment(user, given)
    user.installs(shown(PAGE, "pip install ./python"))
    shutil.copy(AGENTS / "pydantic_ai" / "weather.py", user.folder)
    user.types(shown(PAGE, "echo 'What is the weather in Paris?'"))
    says = ['calls get_weather(city: "Paris")', "It is sunny in Paris.", "evalset accept"]
    user.types(shown(PAGE, "evalset record prompts.txt --agent weather:agent"), says=says)
    user.types(shown(PAGE, "evalset accept evals"), yes=True, says=["accepted"])
    run = shown(PAGE, "evalset run evals --agent weather:agent")
    user.types(run, result="1 case: 1 passed")

    # pytest, in the same words, with a case and with one that fails.
    pytest = shown(PAGE, "pytest --evalset evals --evalset-agent weather:agent")
    user.types(pytest, says=["1 passed"])
    listed = user.types(pytest + " --collect-only -q")
    item = re.search(rf"^{SET}::(.+)$", listed, re.MULTILINE)
    hold(item, f"pytest lists no case:\n{listed}")
    case = item[1]
    user.types(f"{pytest} -k paris", says=["1 passed"])

    tests = step("--agent")
    user.job(tests, [case])
    # The agent changes: by one word, as the page says, and by most of them.
    user.edits("weather.py", '"sky": "sunny"', '"sky": "foggy"')
    user.types(run, says=["1 passed"])
    user.types(f"{run} {shown(PAGE, '-m response_match_score=1.0')}", code=1, says=["actual    It is foggy in Paris."])
    user.edits("weather.py", "It is {last.content['sky']} in {last.content['city']}.", "Paris: {last.content['sky']}")
    log = user.job(tests, [case], failed=case)
    for text in ["response_match_score is 0.", "expected  It is sunny in Paris.", "actual    Paris: foggy"]:
        hold(text in log, f"{text!r} is not in {log}")
    # The command that was typed has no cargo in its name, and so have those that a failure names.
    for text in ["run again     evalset run ", "new golden    evalset import "]:
        hold(text in log, f"{text!r} is not in {log}")
    commands = ["run again     pytest ", "whole record  evalset report "]
    said = user.types(pytest, code=1, says=["1 failed", "Paris: foggy", f"--> {SET}:", *commands])
    again, record = (re.search(rf"{label} +(.+)", said)[1] for label in ["run again", "whole record"])
    user.types(again, code=1, says=["1 failed"])
    # The record has the command that makes what the agent says now the golden.
    said = user.types(record, code=1, says=["new golden    evalset import "])
    user.types(re.search(r"new golden +(.+)", said)[1], says=["draft"])
    user.types(shown(PAGE, "evalset accept evals"), yes=True, says=["accepted"])
    user.types(run, says=["1 case: 1 passed"])
    user.ends()
