#!/usr/bin/env python3
"""Agents of several frameworks, with scripted models, behind `python -m evalset`: their conversations are recorded, accepted and
run by the real command, which passes them, fails a changed agent, and calls a broken one an error.

    check_frameworks.py PYTHON BINARY FOLDER [FILTER]

PYTHON has the packages of tests/otlp/frameworks/requirements.txt. FOLDER gets a folder for each framework; FILTER chooses some
by their names.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "frameworks"))
import story

PYTHON, BINARY, FOLDER = (Path(argument).absolute() for argument in sys.argv[1:4])
FILTER = "".join(sys.argv[4:])
PNG = base64.b64encode(b"\x89PNG").decode()
CONFIG = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 1.0, "final_session_state_match": 1.0}}

WEATHER = [("desk", "get_weather", {"city": "Paris"}, {"sky": "sunny", "city": "Paris"})]
PARALLEL = [("desk", "get_weather", {"city": city}, {"sky": "rain", "city": city}) for city in ("Oslo", "Bergen")]
LOCKED = "file 7 is locked"
# Of each framework: how the failing tool is told, the call by which the nurse comes, who speaks then, and the state at the end.
FRAMEWORKS = {
    "pydantic_ai": (LOCKED, ("nurse", {}, {"result": "The nurse is here."}), "desk", {}),
    "openai_agents": (
        "An error occurred while running the tool. Please try again.",
        ("transfer_to_nurse", {}, {"assistant": "nurse"}),
        "nurse",
        {},
    ),
    "langchain": (
        f"Tool 'delete' failed after 1 attempt with ValueError: {LOCKED}. Please try again.",
        ("nurse", {}, {"result": "The nurse comes."}),
        "nurse",
        {"speaker": "desk"},
    ),
    "google_adk": (LOCKED, ("transfer_to_agent", {"agent_name": "nurse"}, {"result": None}), "nurse", {"last_city": "Paris"}),
}


class Framework:
    """A folder in which an agent is recorded and run."""

    def __init__(self, name):
        self.name = name
        self.folder = FOLDER / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.set = self.folder / "story.evalset.json"

    def env(self, change=""):
        paths = os.pathsep.join([str(HERE.parent), str(HERE / "frameworks")])
        return {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore", "STORY_CHANGE": change}

    def evalset(self, command, *arguments, change=""):
        """Runs the command; its exit code and its JSON."""
        agent = ["--agent-cmd", f"{PYTHON} -m evalset {self.name}_agent:agent"] if command in ("run", "record") else []
        words = [BINARY, "evalset", command, *agent, *arguments, "--format", "json"]
        done = subprocess.run(words, cwd=self.folder, env=self.env(change), capture_output=True, text=True)
        assert done.stdout, f"{self.name}: {command}: {done.stderr}"
        return done.returncode, json.loads(done.stdout)

    def run(self, *cases, change=""):
        """Runs cases in one process of the agent; the exit code, and the cases by their ids."""
        words = [f"{self.set}:{','.join(cases)}" if cases else self.set]
        code, report = self.evalset("run", *words, "--program-concurrency", "4", change=change)
        return code, {case["eval_id"]: case for case in report["cases"]}


def events_of(turn):
    return (turn.get("intermediate_data") or {}).get("invocation_events") or []


def calls_of(case):
    """The calls of a case with their agents and results, in order."""
    events = [event for turn in case["conversation"] for event in events_of(turn)]
    parts = [(event["author"], part) for event in events for part in event["content"]["parts"]]
    results = [part["function_response"] for _, part in parts if "function_response" in part]
    calls = [(author, part["function_call"]) for author, part in parts if "function_call" in part]
    assert [call["id"] for _, call in calls] == [result["id"] for result in results], f"results in another order: {case}"
    return [(author, call["name"], call["args"], result["response"]) for (author, call), result in zip(calls, results)]


def answers_of(case):
    return [turn["final_response"]["parts"][0]["text"] for turn in case["conversation"]]


def check_recording(framework, failure, handoff, state):
    prompts = framework.folder / "prompts.jsonl"
    prompts.write_text("".join(json.dumps(prompt) + "\n" for prompt in story.PROMPTS))
    code, recorded = framework.evalset("record", "-o", framework.set, prompts)
    assert code == 2, recorded
    assert any("RuntimeError: the model is down" in text for text in recorded["failures"]), recorded
    cases = {case["eval_id"]: case for case in json.loads(framework.set.read_text())["eval_cases"]}
    name, arguments, result = handoff
    expected = {
        "memory": (WEATHER, ["It is sunny in Paris.", "You asked: What is the weather in Paris?"]),
        "parallel": (PARALLEL, ["Rain in both."]),
        "failing": ([("desk", "delete", {"number": 7}, {"error": failure})], ["It is locked."]),
        "handoff": ([("desk", name, arguments, result)], ["This is the nurse.", "The nurse is here."]),
    }
    for id, (calls, answers) in expected.items():
        assert calls_of(cases[id]) == calls, f"{framework.name}: {id}: {calls_of(cases[id])}"
        assert answers_of(cases[id]) == answers, f"{framework.name}: {id}: {answers_of(cases[id])}"
    assert cases.keys() == expected.keys(), cases.keys()
    texts = [
        part["text"]
        for event in events_of(cases["parallel"]["conversation"][0])
        for part in event["content"]["parts"]
        if "text" in part
    ]
    assert texts == ["One moment."], texts
    assert cases["memory"].get("final_session_state", {}) == state, cases["memory"]


def check_authors(framework, speaker):
    """Who says the last text of the handoff, on the lines of the protocol."""
    messages = [{"type": "start", "session_id": "s", "state": {}}]
    messages += [
        {"type": "turn", "session_id": "s", "content": {"role": "user", "parts": [{"text": turn}]}}
        for turn in next(prompt["turns"] for prompt in story.PROMPTS if prompt["id"] == "handoff")
    ]
    sent = "".join(json.dumps(message) + "\n" for message in messages)
    words = [PYTHON, "-m", "evalset", f"{framework.name}_agent:agent"]
    done = subprocess.run(words, cwd=framework.folder, env=framework.env(), input=sent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    events = [message["event"] for message in map(json.loads, done.stdout.splitlines()) if message["type"] == "event"]
    texts = [event["author"] for event in events if (event.get("content") or {}).get("parts", [{}])[-1].get("text")]
    assert texts[-1] == speaker, f"{framework.name}: {texts}"


def check_runs(framework):
    cases = "memory parallel failing handoff".split()
    code, _ = framework.evalset("accept", f"{framework.set}:{','.join(cases)}")
    assert code == 0
    (framework.folder / "test_config.json").write_text(json.dumps(CONFIG))
    added = json.loads(framework.set.read_text())
    image = {"parts": [{"text": "What is this?"}, {"inline_data": {"mime_type": "image/png", "data": PNG}}], "role": "user"}
    for id, content, answer in [("down", {"parts": [{"text": "Break"}]}, "No."), ("image", image, "A picture.")]:
        turn = {"user_content": content, "final_response": {"parts": [{"text": answer}]}}
        added["eval_cases"].append({"eval_id": id, "conversation": [turn]})
    framework.set.write_text(json.dumps(added))

    code, ran = framework.run(*cases, "image")
    assert code == 0, {id: case["failure"] for id, case in ran.items()}
    # Three model calls in the conversation with a tool, of 15 tokens each.
    assert ran["memory"]["usage"]["agent_tokens"] == 45, ran["memory"]["usage"]
    code, ran = framework.run(*cases, change="arguments")
    assert code == 1, ran
    assert {id: case["state"] for id, case in ran.items()} == {id: "failed" if id == "memory" else "passed" for id in cases}
    assert "Rome" in ran["memory"]["failure"], ran["memory"]["failure"]
    code, ran = framework.run("down", "memory")
    assert code == 2, ran
    assert ran["down"]["state"] == "error" and "RuntimeError: the model is down" in ran["down"]["reason"], ran["down"]
    assert ran["memory"]["state"] == "passed", ran["memory"]["failure"]


def main():
    chosen = [name for name in FRAMEWORKS if FILTER in name]
    for name in chosen:
        failure, handoff, speaker, state = FRAMEWORKS[name]
        framework = Framework(name)
        check_recording(framework, failure, handoff, state)
        check_authors(framework, speaker)
        check_runs(framework)
        print(f"{name}: recorded, passed, failed and broke as it should", flush=True)
    assert chosen, f"no framework is named {FILTER}"


main()
