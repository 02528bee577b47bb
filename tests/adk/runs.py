#!/usr/bin/env python3
"""Compares whole runs with google-adk's: sets, configs and agents drawn at random.

    tests/adk/runs.py PYTHON CARGO_EVALSET [--runs N] [--seed N]

PYTHON is a Python that has google-adk, as for `compare.py`; CARGO_EVALSET is the program of eval-cli. Each run is a set with
its config and the events of an agent. google-adk's eval service plays and scores it (`whole_runs.py`), and so does
`cargo evalset run` with a program that replays the same events. Equal are the verdict of each case and the score and verdict
of each metric, as `AgentEvaluator` decides them. What google-adk counts as passed although a metric was not evaluated is no pass here.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from cases import Drawer

HERE = pathlib.Path(__file__).parent
AGENT = HERE / "replay_agent.py"


class Runs:
    """Draws whole runs."""

    def __init__(self, draw):
        self.draw = draw
        self.drawer = Drawer(draw, [(0x20, 0x7E), (0xA1, 0xFF), (0x391, 0x3C9), (0x4E00, 0x4E80)])

    def run(self, number):
        draw = self.draw
        script, cases = {}, []
        for case in range(draw.randint(1, 3)):
            conversation = []
            for turn in range(draw.choice([1, 1, 2, 3])):
                user = f"message {number} {case} {turn}"
                expected, script[user] = self.turn(user)
                conversation.append(expected)
            cases.append({"eval_id": f"case_{case}", "conversation": conversation})
        return {
            "set": {"eval_set_id": f"set_{number}", "eval_cases": cases},
            "config": {"criteria": self.criteria()},
            "script": script,
        }

    def criteria(self):
        draw = self.draw
        threshold = draw.choice([0.1, 0.3, 0.5, 2 / 3, 0.75, 0.8, 1.0, 1])
        trajectory = draw.choice([
            threshold,
            {"threshold": threshold, "match_type": draw.choice(["EXACT", "IN_ORDER", "ANY_ORDER"])},
            {"threshold": threshold, "matchType": draw.choice([0, 1, 2])},
        ])  # fmt: skip
        response = draw.choice([0.2, 0.5, 0.8, {"threshold": 0.6}])
        both = {"tool_trajectory_avg_score": trajectory, "response_match_score": response}
        # Without a call in the set, a match in any order alone checks nothing, which is refused here.
        exact = {"tool_trajectory_avg_score": draw.choice([threshold, {"threshold": threshold, "match_type": "EXACT"}])}
        return draw.choice([both, both, exact, {"response_match_score": response}])

    def call(self):
        draw = self.draw
        args = {key: self.plain() for key in draw.sample(["city", "days", "unit", "é"], draw.randint(0, 3))}
        return {"name": draw.choice(["get_weather", "search", "book"]), "args": args}

    def plain(self, depth=0):
        draw = self.draw
        kinds = [
            lambda: draw.choice(["Paris", "paris", "", "東京", "1"]),
            lambda: draw.choice([0, 1, -3, 10**12]),
            lambda: draw.choice([1.0, 0.1, 2.5, 1e-7]),
            lambda: draw.choice([True, False, None]),
        ]
        if depth < 2:
            kinds.append(lambda: [self.plain(depth + 1) for _ in range(draw.randint(0, 2))])
            kinds.append(lambda: {key: self.plain(depth + 1) for key in draw.sample("ab", draw.randint(0, 2))})
        return draw.choice(kinds)()

    def turn(self, user):
        """A turn as it is expected, and the events of the agent."""
        draw = self.draw
        calls = [self.call() for _ in range(draw.choice([0, 0, 1, 2, 3]))]
        answer, said = self.drawer.ascii_pair() if draw.random() < 0.7 else self.drawer.pair()
        answer, said = f"Well, {answer}", draw.choice([f"Well, {answer}", f"Well, {said}", f"Well, {said}"])
        expected = {
            "user_content": {"role": "user", "parts": [{"text": user}]},
            "final_response": {"role": "model", "parts": [{"text": answer}]},
        }
        if calls and draw.random() < 0.5:
            expected["intermediate_data"] = {"tool_uses": calls}
        elif calls or draw.random() < 0.3:
            parts = [{"function_call": call} for call in calls]
            events = [{"author": "agent", "content": {"role": "model", "parts": [part]}} for part in parts]
            expected["intermediate_data"] = {"invocation_events": events}
        made = [dict(call) for call in calls]
        if draw.random() < 0.4:
            made = self.drawer.rerun(made) if draw.random() < 0.3 else draw.sample(made, draw.randint(0, len(made)))
            made = [{"name": call.get("name") or "search", "args": call.get("args") or {}} for call in made]
            made += [self.call()] * draw.choice([0, 0, 1, 2])
        return expected, self.events(made, said)

    def events(self, calls, said):
        draw = self.draw
        events = []
        if draw.random() < 0.2:
            events.append(self.event("model", [{"text": "Let me see."}]))
        while calls:
            count = draw.randint(1, len(calls))
            calls, now = calls[count:], calls[:count]
            ids = [f"id-{draw.getrandbits(40):x}" for _ in now]
            asked = [{"function_call": {**call, "id": id}} for call, id in zip(now, ids)]
            if draw.random() < 0.2:
                asked.insert(0, {"text": "hm", "thought": True})
            events.append(self.event("model", asked))
            given = [{"name": call["name"], "id": id, "response": {"ok": 1}} for call, id in zip(now, ids)]
            events.append(self.event("user", [{"function_response": response} for response in given]))
        cut = draw.randint(0, len(said))
        parts = [{"text": said}] if draw.random() < 0.7 or not said[:cut].strip() or not said[cut:].strip() else [
            {"text": said[:cut]}, {"text": said[cut:]}]  # fmt: skip
        if draw.random() < 0.1:
            parts.insert(0, {"text": "thinking", "thought": True})
        return [*events, self.event("model", parts)]

    def event(self, role, parts):
        author = self.draw.choice(["agent", "agent", "helper"])
        return {"author": author, "content": {"role": role, "parts": parts}}


def ours(program, runs, folder):
    """The report of `cargo evalset run` on all sets, by set and case."""
    script, files = {}, []
    for number, run in enumerate(runs):
        place = folder / str(number)
        place.mkdir()
        (place / "test_config.json").write_text(json.dumps(run["config"]))
        files.append(place / "drawn.evalset.json")
        files[-1].write_text(json.dumps(run["set"]))
        script |= run["script"]
    (folder / "script.json").write_text(json.dumps(script))
    agent = f"{sys.executable} {AGENT} {folder / 'script.json'}"
    command = [program, "evalset", "run", *files, "--agent-cmd", agent, "--json", "-"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        print(done.stderr[-2000:])
    document = json.loads(done.stdout)
    return {(case["eval_set_id"], case["eval_id"]): case for case in document["cases"]}


def comparable(metrics):
    """The score and verdict of each metric. A metric that only informs has a mean with rounding errors, or a duration."""
    rounded = {
        name: [round(score, 12) if verdict == "INFORMATIONAL" and score is not None else score, verdict]
        for name, (score, verdict) in metrics.items()
    }
    rounded.pop("invocation_duration_v1", None)
    return rounded


def differences(run, theirs, found):
    """How the two differ in a case: a sentence each."""
    for eval_id, answer in theirs.items():
        case = found.get((run["set"]["eval_set_id"], eval_id))
        if case is None:
            yield f"{eval_id}: not in our report"
            continue
        metrics = comparable({it["name"]: [it["score"], it["state"].upper()] for it in case["metrics"]})
        expected = comparable(answer["metrics"])
        if metrics != expected:
            yield f"{eval_id}: google-adk {expected}, here {metrics}"
        unevaluated = any(status == "NOT_EVALUATED" for _, status in answer["metrics"].values())
        expected = "NOT_EVALUATED" if unevaluated and answer["status"] == "PASSED" else answer["status"]
        if case["state"].upper() != expected:
            yield f"{eval_id}: google-adk {answer['status']}, here {case['state']}: {case['reason']}"


def main():
    parser = argparse.ArgumentParser(description="Compares whole runs with google-adk's.")
    parser.add_argument("python", help="a Python that has google-adk")
    parser.add_argument("program", type=pathlib.Path, help="cargo-evalset")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    options = parser.parse_args()
    drawn = Runs(random.Random(options.seed))
    runs = [drawn.run(number) for number in range(options.runs)]
    lines = "".join(json.dumps({"kind": "whole_run", "input": run}) + "\n" for run in runs)
    oracle = [options.python, HERE / "oracle.py"]
    answers = subprocess.run(oracle, input=lines, text=True, stdout=subprocess.PIPE, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        found = ours(options.program.resolve(), runs, pathlib.Path(folder))
    cases, passed, wrong = 0, 0, []
    for run, line in zip(runs, answers.splitlines(), strict=True):
        theirs = json.loads(line)["answer"]
        cases += len(theirs)
        passed += sum(answer["status"] == "PASSED" for answer in theirs.values())
        told = list(differences(run, theirs, found))
        wrong += [f"{run['set']['eval_set_id']}, {it}\n  {json.dumps(run)}" for it in told]
    print(*wrong[:5], sep="\n")
    print(f"{options.runs} runs, {cases} cases, {passed} passed in google-adk, seed {options.seed}: {len(wrong)} differences")
    sys.exit(bool(wrong) or passed in (0, cases))


main()
