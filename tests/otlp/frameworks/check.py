#!/usr/bin/env python3
"""Agents of several frameworks play stories with scripted models, and what `cargo evalset traces` reads of their traces is what
they did.

    check.py PYTHON BINARY FOLDER [FILTER]

PYTHON has the packages of requirements.txt. FOLDER gets a folder for each run; FILTER chooses runs by their names.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import story

PYTHON, BINARY, FOLDER = (Path(arg).absolute() for arg in sys.argv[1:4])
FILTER = "".join(sys.argv[4:])
HERE = Path(__file__).resolve().parent
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

# A script with its options, and the stories that it plays.
RUNS = [
    ("openai_loop.py openinference", "turns texts failing down"),
    ("openai_loop.py openinference stream", "turns"),
    ("openai_loop.py traceloop", "turns texts failing down"),
    ("openai_loop.py traceloop stream", "turns"),
    ("openai_loop.py traceloop root", "turns"),
    ("google_adk.py", "turns texts failing down handoff behind"),
    ("google_adk.py stream", "turns"),
    ("pydantic_ai_agent.py", "turns texts failing behind"),
    ("pydantic_ai_agent.py stream", "failing"),
    ("pydantic_ai_agent.py 2", "turns"),
    ("openai_agents_runner.py responses", "turns texts failing handoff behind"),
    ("openai_agents_runner.py responses stream", "turns"),
    ("openai_agents_runner.py chat", "turns handoff"),
    ("langchain_agent.py agent", "turns texts failing behind"),
    ("langchain_agent.py agent stream", "turns"),
    ("langchain_agent.py graph", "turns texts"),
]
HIDDEN = {"user_not_captured", "answer_not_captured", "arguments_not_captured"}
# What is not in the traces, and the gaps that say so; a failed turn may be a conversation of its own.
GAPS = [
    ("google_adk.py", "turns", HIDDEN, {CONTENT: "NO_CONTENT"}),
    ("pydantic_ai_agent.py hidden", "turns", HIDDEN, {}),
    ("pydantic_ai_agent.py", "down", {"user_not_captured"}, {}),
    ("openai_agents_runner.py responses", "down", {"user_not_captured"}, {}),
    ("openai_agents_runner.py chat stream", "turns", {"answer_not_captured"}, {}),
    ("langchain_agent.py agent", "down", set(), {}),
    ("openai_loop.py opentelemetry", "turns", HIDDEN, {CONTENT: "false"}),
    ("openai_loop.py openinference", "turns", {"user_not_captured", "answer_not_captured", "calls_not_captured"}, {"OPENINFERENCE_HIDE_INPUTS": "true", "OPENINFERENCE_HIDE_OUTPUTS": "true"}),
    ("openai_loop.py traceloop", "turns", {"user_not_captured", "answer_not_captured", "calls_not_captured"}, {"TRACELOOP_TRACE_CONTENT": "false"}),
]
# Content in records of logs.
GAPS += [("google_adk.py", "turns", set(), {CONTENT: mode}) for mode in ["EVENT_ONLY", "SPAN_AND_EVENT", "true"]]
GAPS += [("openai_loop.py opentelemetry", "turns", set(), {CONTENT: "true"})]


def play(run, name, env):
    """Runs a script; its folder, and what it did."""
    folder = FOLDER / "-".join([*run.replace(".py", "").split(), name, *env.values()])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    script, *options = run.split()
    env = {**os.environ, "PYTHONWARNINGS": "ignore", CONTENT: "SPAN_ONLY", **env}
    command = [PYTHON, HERE / script, name, *options]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{run} {name}: {done.stderr}"
    return folder, json.loads((folder / "truth.json").read_text())


def read(folder, *files):
    files = files or sorted(str(file) for file in folder.glob("*.jsonl"))
    done = subprocess.run([BINARY, "evalset", "traces", *files, "--format", "json"], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def losses(found):
    of_turns = [gap for it in found["conversations"] for turn in it["turns"] for gap in turn["gaps"]]
    gaps = found["gaps"] + [gap for it in found["conversations"] for gap in it["gaps"]] + of_turns
    return {gap["kind"] for gap in gaps if gap["loses"]}


def key(call):
    return call["name"], json.dumps(call["args"], sort_keys=True)


def in_order_of_the_model(turn):
    """The calls of a turn in the order in which its model asked for them: tools that run at the same time note them in any order."""
    asked = [json.dumps(args, sort_keys=True) for _, calls in story.ALL[turn["user"]] for _, args in calls]
    place = lambda call: asked.index(key(call)[1]) if key(call)[1] in asked else len(asked)
    return sorted(turn["calls"], key=place)


def compare(name, seen, true, may_lack):
    """A turn is what happened; what it may lack is not there, but never another thing."""
    where = f"{name}: {true['user']!r}"
    lacks_user = "user_not_captured" in may_lack and seen["user"] is None
    # An unanswered message before it may be told with it, which a gap says.
    is_joined = any(gap["kind"] == "several_messages" for gap in seen["gaps"]) and seen["user"].endswith(true["user"])
    assert lacks_user or is_joined or seen["user"] == true["user"], f"{where}: the user is {seen['user']!r}"
    calls = in_order_of_the_model(true)
    lacks_calls = "calls_not_captured" in may_lack and not seen["calls"]
    names = [call["name"] for call in seen["calls"]]
    assert lacks_calls or names == [call["name"] for call in calls], f"{where}: the calls are {names}"
    for call, done in zip(seen["calls"], calls):
        lacks_args = "arguments_not_captured" in may_lack and call["args"] is None
        assert lacks_args or call["args"] == done["args"], f"{where}: {call} is not {done}"
        is_unknown = done["result"] is None or may_lack and call["result"] is None
        # google-adk puts what is no object into one.
        assert is_unknown or call["result"] in (done["result"], {"result": done["result"]}), f"{where}: {call} is not {done}"
    lacks_answer = "answer_not_captured" in may_lack and seen["answer"] is None
    assert lacks_answer or seen["answer"] == true["answer"], f"{where}: the answer is {seen['answer']!r}"
    assert (seen["error"] is not None) == true["failed"], f"{where}: {seen['error']}"


def check(run, name, gaps=frozenset(), env={}):
    folder, true = play(run, name, env)
    found = read(folder)
    title = f"{run} {name} {' '.join(env.values())}"
    assert losses(found) == set(gaps), f"{title}: {losses(found)}, and not {set(gaps)}"
    conversations = [it for it in found["conversations"] if it["turns"]]
    if not gaps and name != "down":
        assert len(conversations) == 1, f"{title}: {len(conversations)} conversations"
    turns = [turn for it in conversations for turn in it["turns"]]
    if "calls_not_captured" not in gaps:
        assert len(turns) == len(true), f"{title}: {len(turns)} turns"
    if len(turns) == len(true):
        for seen, done in zip(turns, true):
            compare(title, seen, done, gaps)
    else:
        # Each model call is alone, as nothing says what it goes on with.
        assert all(turn["user"] is None and turn["answer"] is None for turn in turns), f"{title}: {turns}"
    print(f"{title}: {len(turns)} turns, {sum(len(turn['calls']) for turn in turns)} calls", flush=True)
    return folder


def lose_a_trace(folder):
    """Without the model call that asks, the one that has the result is no turn without calls."""
    lines = (folder / "traces.jsonl").read_text().splitlines(keepends=True)
    spans = [json.loads(line) for line in lines]
    for line in spans:
        for resource in line["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                scope["spans"] = [it for it in scope["spans"] if "call_1" not in json.dumps(it) or "tool_call_id" in json.dumps(it)]
    cut = folder / "cut.json"
    cut.write_text("".join(json.dumps(line) + "\n" for line in spans))
    assert losses(read(folder, str(cut))) == {"calls_not_captured"}, losses(read(folder, str(cut)))


def main():
    runs = [(run, name, frozenset(), {}) for run, names in RUNS for name in names.split()]
    chosen = [it for it in runs + GAPS if FILTER in " ".join(it[:2])]
    for run, name, gaps, env in chosen:
        folder = check(run, name, gaps, env)
        if (run, name, env) == ("openai_loop.py openinference", "turns", {}):
            lose_a_trace(folder)
    print(f"{len(chosen)} runs are read as what happened")


main()
