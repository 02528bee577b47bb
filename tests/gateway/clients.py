#!/usr/bin/env python3
"""Real clients of models, recorded against a provider on loopback with random ids, and replayed without it.

    clients.py PYTHON COMMAND FOLDER [AGENT ..]

PYTHON has the packages of requirements.txt, COMMAND is `cargo-evalset`, and FOLDER is for files. Each agent of weather.py is
recorded, replayed in a fresh process without a key, and replayed with a changed prompt, which has to be an error that shows
that line and no other. Faults reach the clients, and several cases of one ADK server get their own answers.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
STREAMED = ["openai-chat", "openai-responses", "anthropic", "gemini"]
KEYS = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"]
# The requests that a client makes for one answer where each fails: its attempts.
ATTEMPTS = {"openai-chat": 3, "anthropic": 3, "gemini": 1}


class Provider:
    """A provider, until the end of its block."""

    def __init__(self, folder, scenario="tool2-rnd-gid"):
        self.folder, self.scenario = folder, scenario

    def __enter__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.child = subprocess.Popen([sys.executable, HERE / "provider.py", str(port), self.folder / "provider.jsonl"])
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        url = f"http://127.0.0.1:{port}/{self.scenario}"
        names = {"OPENAI": url + "/v1", "ANTHROPIC": url, "GEMINI": url}
        return {f"EVALSET_MODELS_UPSTREAM_{name}": value for name, value in names.items()} | {key: "sk-test" for key in KEYS}

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()


class Check:
    def __init__(self, python, command, folder):
        self.python, self.command = python, command
        self.folder = pathlib.Path(folder).resolve()
        self.failed = []

    def place(self, name, cases=None):
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        trip = json.loads((HERE / "trip.evalset.json").read_text())
        if cases:
            trip["eval_cases"] = [{**trip["eval_cases"][0], **case} for case in cases]
        (folder / "trip.evalset.json").write_text(json.dumps(trip))
        return folder

    def run(self, folder, agent, variables=(), *args):
        environment = {key: value for key, value in os.environ.items() if key not in KEYS and not key.startswith("EVALSET_")}
        environment |= {"PYTHONPATH": str(HERE.parent.parent / "python"), "PYTHONWARNINGS": "ignore", "EVALSET_DIR": str(folder / "runs")}
        environment |= dict(variables)
        line = [self.command, "run", "trip.evalset.json", *agent, *args]
        return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)

    def program(self, name):
        return ["--agent-cmd", f"{self.python} {HERE / 'weather.py'} {name}", "--ready-within", "120s", "--end-within", "60s"]

    def expect(self, what, ran, code, *words):
        missing = [word for word in words if word not in ran.stdout + ran.stderr]
        if ran.returncode == code and not missing:
            return True
        self.failed.append(what)
        print(f"{what}: exit code {ran.returncode}, expected {code}; missing: {missing}\n{ran.stdout}{ran.stderr}")
        return False

    def agent(self, name, stream=False):
        what = name + (", streamed" if stream else "")
        folder, agent = self.place(what.replace(", ", "-")), self.program(name)
        more = {"GATEWAY_STREAM": "1"} if stream else {}
        with Provider(folder) as provider:
            recorded = self.run(folder, agent, provider | more | {"EVALSET_MODELS": "record", "PYTHONHASHSEED": "random"})
        if not self.expect(f"{what}: recorded", recorded, 0):
            return
        unused = {"EVALSET_MODELS_UNUSED": "error", "PYTHONHASHSEED": "random"}
        replayed = self.run(folder, agent, more | unused)
        self.expect(f"{what}: replayed", replayed, 0)
        # Frameworks retry, wrap and hide errors of models; the case shows what is missing in any case.
        changed = self.run(folder, agent, more | {"GATEWAY_INSTRUCTIONS": "You answer about the weather.", "GATEWAY_SWALLOW": "1"})
        self.expect(f"{what}: changed", changed, 2, "recording error in turn 1", "system prompt:")
        shown = [line.strip("| \n") for line in changed.stdout.splitlines() if re.match(r"\s*\| +[-+] ", line)]
        expected = {"- You answer about weather.", "+ You answer about the weather."}
        # ADK adds a sentence of its own to the prompt, which did not change.
        if not expected <= set(shown) or len(shown) != 2:
            self.failed.append(f"{what}: difference")
            print(f"{what}: the difference is {shown}\n{changed.stdout}")
        took = [float(seconds) for seconds in re.findall(r"ERROR \[ +([0-9.]+)s\]", changed.stdout)]
        print(f"{what}: ok, a miss took {max(took, default=0)} s")

    def faults(self, name):
        folder, agent = self.place(f"faults-{name}"), self.program(name)
        with Provider(folder, "text-rnd") as provider:
            self.edit(folder, lambda case: case["conversation"].__delitem__(slice(1, None)))
            self.edit(folder, lambda case: case["conversation"][0].pop("intermediate_data"))
            self.expect(f"{name}: recorded", self.run(folder, agent, provider | {"EVALSET_MODELS": "record"}), 0)
        for fault in [{"status": 429, "retry_after": 0.001}, {"status": 500}, "reset"]:
            for calls in (1, 2, 3):
                at = [{"at": {"turn": 1, "call": call}, "fault": fault} for call in range(1, calls + 1)]
                self.edit(folder, lambda case: case.update(_models={"faults": at}))
                # Google's client repeats a request of its asynchronous side once if the connection is reset.
                attempts = 2 if name == "gemini" and fault == "reset" else ATTEMPTS[name]
                ran = self.run(folder, agent)
                self.expect(f"{name}: {fault} at {calls} calls", ran, 0 if calls < attempts else 2)
        print(f"{name}: faults ok")

    def edit(self, folder, change):
        path = folder / "trip.evalset.json"
        trip = json.loads(path.read_text())
        for case in trip["eval_cases"]:
            change(case)
        path.write_text(json.dumps(trip))

    def server(self):
        folder = self.place("adk-server", [{"eval_id": name} for name in ("one", "two", "three", "four")])
        # All begin with the same words.
        self.edit(folder, lambda case: case["conversation"][1]["user_content"]["parts"][0].update(text=f"And for {case['eval_id']}?"))
        adk = pathlib.Path(self.python).with_name("adk")
        agent = ["--adk-cmd", f"{adk} api_server --no_use_local_storage {HERE / 'adk'}", "--app", "weather", "--ready-within", "120s"]
        with Provider(folder) as provider:
            recorded = self.run(folder, agent, provider | {"EVALSET_MODELS": "record"}, "--concurrency", "4")
        if self.expect("adk api_server: recorded", recorded, 0, "4 passed"):
            for _ in range(3):
                self.expect("adk api_server: replayed", self.run(folder, agent, (), "--concurrency", "4"), 0, "4 passed")
            print("adk api_server: ok")


def main():
    python, command, folder, *names = sys.argv[1:]
    check = Check(python, str(pathlib.Path(command).resolve()), folder)
    sys.path.insert(0, str(HERE))
    from weather import AGENTS

    for name in [name for name in AGENTS if not names or name in names]:
        check.agent(name)
    for name in [name for name in STREAMED if not names or name in names]:
        check.agent(name, stream=True)
    for name in [name for name in ATTEMPTS if not names or name in names]:
        check.faults(name)
    if not names or "adk-server" in names:
        check.server()
    sys.exit(f"failed: {', '.join(check.failed)}" if check.failed else 0)


if __name__ == "__main__":
    main()
