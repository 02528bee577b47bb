"""An agent behind ADK's server, with eval sets of which some have ADK's old forms: checked, migrated, run."""

import json
import os
import shutil
from pathlib import Path

from user import AGENTS, ROOT, User, hold, shown, step


def files():
    """The first twenty eval sets and test files by name, or all of samples/."""
    folder = Path(os.environ.get("EVALSET_CORPUS", ROOT / "samples"))
    found = [path for path in folder.rglob("*.json") if path.name.endswith((".evalset.json", ".test.json"))]
    hold(found, f"{folder} has no eval sets")
    return sorted(found)[:20]


def text(content):
    return "".join(part.get("text") or "" for part in (content or {}).get("parts") or [])


def calls(turn):
    """The tool calls that a turn expects, in both forms of its data."""
    data = turn.get("intermediate_data") or {}
    contents = [event.get("content") or {} for event in data.get("invocation_events") or []]
    parts = [part for content in contents for part in content.get("parts") or []]
    found = (data.get("tool_uses") or []) + [part["function_call"] for part in parts if part.get("function_call")]
    return [{"name": call["name"], "args": call.get("args") or {}} for call in found]


def add(turns, path):
    """Adds the goldens of a set to the script of the model: calls and answers, by all that the user has said. Returns the ids
    of the cases; none if the set contradicts another one, or expects more than calls and answers."""
    cases, added = [], dict(turns)
    for case in json.loads(path.read_text())["eval_cases"]:
        said = []
        for turn in case.get("conversation") or []:
            said.append(text(turn["user_content"]))
            expected = {"calls": calls(turn), "answer": text(turn.get("final_response"))}
            if not expected["answer"] or added.setdefault("\n".join(said), expected) != expected:
                return []
        if not said or case.get("final_session_state"):
            return []
        cases.append(case["eval_id"])
    turns.update(added)
    return cases


def becomes(found):
    """The line that puts a file into `evals`, in the form of today."""
    file = found["file"]
    new = "evals/" + Path(file).name.split(".")[0] + ".evalset.json"
    if found["form"] == "eval_set":
        return f"cp {file} {new}", new
    return shown("docs/from-adk-eval.md", "cargo evalset migrate OLD NEW", ("OLD", file), ("NEW", new)), new


def walk(given):
    user = User("adk", given.bin, path=[given.python.parent])
    agent = user.folder / "agents" / "weather"
    agent.mkdir(parents=True)
    (user.folder / "evals").mkdir()
    (agent / "__init__.py").touch()
    shutil.copy(AGENTS / "adk" / "agent.py", agent)
    for number, path in enumerate(files()):
        # Files of several folders can have one name.
        shutil.copyfile(path, agent / f"{number:02}_{path.name.split('__')[-1]}")

    user.installs(shown("README.md", 'cargo install --locked --git "$EVALSET_REPOSITORY" cargo-evalset'))
    check = shown("docs/from-adk-eval.md", "cargo evalset check agents")
    checked = json.loads(user.run(check + " --format json")[1])["files"]
    problems = sum(len(it["problems"]) for it in checked)
    # It ends with 1 if ADK passed over a mistake. A warning is none.
    has_errors = any(problem["severity"] == "error" for it in checked for problem in it["problems"])
    user.types(check, code=int(has_errors), says=[f"{len(checked)} files, "])
    whole = sorted((it for it in checked if not it["problems"]), key=lambda it: it["form"] == "eval_set")
    old = sum(it["form"] != "eval_set" for it in whole)
    hold(old > 0, "no set has an old form")
    run = shown("README.md", "cargo evalset run evals --adk-cmd")

    turns, cases, sets = {}, [], 0
    for found in whole:
        line, new = becomes(found)
        user.types(line)
        if found["form"] == "eval_set":
            user.types(f"cargo evalset fmt {new}")
        added = add(turns, user.folder / new)
        if added:
            (agent / "script.json").write_text(json.dumps(turns, indent=2))
            cases, sets = [*cases, *added], sets + 1
            if user.first is None:
                user.types(run, result=f"{len(added)} case")
        else:
            user.types(f"rm {new}")
    print(f"{len(checked)} files with {problems} problems; {old} migrated; {sets} sets with {len(cases)} cases run", flush=True)

    tests = step("--adk-cmd")
    user.job(tests, cases)
    # The agent changes: another answer to the last case.
    last = list(turns)[-1]
    turns[last]["answer"] = "No idea."
    (agent / "script.json").write_text(json.dumps(turns, indent=2))
    log = user.job(tests, cases, failed=cases[-1])
    for words in ["response_match_score is 0", "actual    No idea.", "new golden    cargo evalset import "]:
        hold(words in log, f"{words!r} is not in {log}")
    user.ends()
