#!/usr/bin/env python3
"""Many cases at once on one server of ADK, recorded and replayed.

    adk_server.py PYTHON COMMAND FOLDER

PYTHON has google-adk beside it, COMMAND is `cargo-evalset`, and FOLDER is for files. All cases begin with the same words. Either
each gets its own answer, or the error names both cases that it may be of: never another one's answer.
"""

import json
import pathlib
import sys

from harness import HERE, Check, Provider, cases

# Pairs of cases.
REPETITIONS = 100
AT_ONCE = "8"


def text(said):
    return {"role": "user", "parts": [{"text": said}]}


def turn(question, answer=None):
    return {"user_content": text(question)} | ({"final_response": text(answer)} if answer else {})


class Servers(Check):
    def program(self, relay=None):
        adk = pathlib.Path(self.python).with_name("adk")
        server = f"{adk} api_server --no_use_local_storage {HERE / 'adk'}"
        return ["--adk-cmd", server, "--app", "weather", "--ready-within", "120s", "--concurrency", AT_ONCE]

    def replays(self, name, conversations, scenario, metric):
        """The cases of a replay by their names, and what each said when it was recorded."""
        made = [{"eval_id": id, "conversation": turns} for id, turns in conversations.items()]
        folder = self.place(name, made)
        (folder / "test_config.json").write_text(json.dumps({"criteria": {metric: 1.0}}))
        with Provider(folder, scenario) as provider:
            recorded = self.run(folder, self.program(), provider | {"EVALSET_MODELS": "record"}, "--json", "recorded.json")
        self.expect(f"{name}: recorded", recorded, 0, f"{len(made)} passed")
        self.run(folder, self.program(), {"EVALSET_MODELS_UNUSED": "error"}, "--json", "replayed.json")
        said = {case["eval_id"]: case["did"] for case in cases(folder, "recorded.json")}
        return [(case, said[case["eval_id"]]) for case in cases(folder, "replayed.json")]

    def own_answers(self):
        """The second turn tells the cases apart, and so do their answers."""
        names = [f"case-{number}" for number in range(2 * REPETITIONS)]
        first = turn("How is the weather?", "It is sunny.")
        conversations = {name: [first, turn(f"And for {name}?", f"It is sunny for {name}.")] for name in names}
        for case, said in self.replays("own-answers", conversations, "tool2-rnd-gid-named", "response_match_score"):
            is_own = case["state"] == "passed" and case["did"] == said
            self.hold(f"own answers: {case['eval_id']}", is_own, f"{case['did']}\n{said}\n{case['failure']}")
        print(f"own answers: {len(names)} cases were checked", flush=True)

    def same_question(self):
        """The first turns of a pair are equal, and their answers are not."""
        pairs = [(f"case-{number}a", f"case-{number}b") for number in range(REPETITIONS)]
        pair_of = {name: pair for pair in pairs for name in pair}
        conversations = {}
        for number, pair in enumerate(pairs):
            for name in pair:
                conversations[name] = [turn(f"How is the weather on day {number}?"), turn(f"And for {name}?")]
        own = named = 0
        for case, said in self.replays("same-question", conversations, "text-rnd-named-count", "tool_trajectory_avg_score"):
            is_own = case["state"] == "passed" and case["did"] == said
            both = [f"`{name}`" for name in pair_of[case["eval_id"]]]
            is_named = case["state"] == "error" and all(name in case["failure"] for name in both)
            self.hold(f"same question: {case['eval_id']}", is_own or is_named, f"{case['did']}\n{said}\n{case['failure']}")
            own, named = own + is_own, named + is_named
        print(f"same question: {own} cases got their own answers, {named} errors name both", flush=True)


def main():
    check = Servers(*sys.argv[1:])
    check.own_answers()
    check.same_question()
    check.ends()


if __name__ == "__main__":
    main()
