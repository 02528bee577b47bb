"""The command with agents around real clients of models, and a provider of models on loopback."""

import datetime
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
KEYS = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"]
# The package of Python.
PACKAGE = HERE.parent.parent / "python"
INSTRUCTIONS = {"- You answer about weather.", "+ You answer about the weather."}


class Provider:
    """A provider, until the end of its block: the variables that lead to it."""

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
    def __init__(self, python, command, folder, modules=None):
        self.python, self.command = python, str(pathlib.Path(command).resolve())
        self.folder = pathlib.Path(folder).resolve()
        self.failed = []
        if modules:
            # Packages are looked for beside the file that imports them.
            self.node = shutil.copy(HERE / "node" / "weather.mjs", modules)

    def place(self, name, cases=None):
        """A folder with the eval set, of this case or of one for each of the keys that are changed."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        trip = json.loads((HERE / "trip.evalset.json").read_text())
        if cases:
            trip["eval_cases"] = [{**trip["eval_cases"][0], **case} for case in cases]
        (folder / "trip.evalset.json").write_text(json.dumps(trip))
        return folder

    def edit(self, folder, change):
        path = folder / "trip.evalset.json"
        trip = json.loads(path.read_text())
        for case in trip["eval_cases"]:
            change(case)
        path.write_text(json.dumps(trip))

    def run(self, folder, agent, variables=(), *args, of=""):
        environment = {key: value for key, value in os.environ.items() if key not in KEYS and not key.startswith("EVALSET_")}
        environment |= {"PYTHONPATH": str(PACKAGE), "PYTHONWARNINGS": "ignore", "EVALSET_DIR": str(folder / "runs")}
        environment |= dict(variables)
        line = [self.command, "run", f"trip.evalset.json{of}", *agent, *args]
        return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)

    def program(self, name, relay=None):
        """The agent of this name: in node, or in Python. A relay writes its log to this file."""
        line = f"node {self.node} {name.removeprefix('node-')}" if name.startswith("node-") else f"{self.python} {HERE / 'weather.py'} {name}"
        if relay:
            relay.unlink(missing_ok=True)
            line = f"{sys.executable} {HERE / 'relay.py'} {relay} {line}"
        return ["--agent-cmd", line, "--ready-within", "120s", "--end-within", "60s"]

    def expect(self, what, ran, code, *words):
        missing = [word for word in words if word not in ran.stdout + ran.stderr]
        return self.hold(
            f"{what}", ran.returncode == code and not missing, f"exit code {ran.returncode}, expected {code}; missing: {missing}\n{ran.stdout}{ran.stderr}"
        )

    def hold(self, what, is_so, seen):
        if not is_so:
            self.failed.append(what)
            print(f"{what}: {seen}", flush=True)
        return is_so

    def ends(self):
        sys.exit(f"failed: {', '.join(self.failed)}" if self.failed else 0)


def requests(log, of="/c/"):
    """The times of the requests that a relay saw: those whose path or host begins so."""
    lines = [line.split(" ", 1) for line in log.read_text().splitlines()] if log.exists() else []
    return [float(time) for time, target in lines if target.startswith(of)]


def cases(folder, report="report.json"):
    """The cases of a report, each with `did`: what its agent said, called and was told, in order. `ends` are the ends of its turns
    and of the case itself, in seconds."""
    found = json.loads((folder / report).read_text())["cases"]
    for case in found:
        records = [json.loads(line) for line in (folder / case["record"]).read_text().splitlines()]
        # Several cases of a run share a file.
        test = next(it["test"] for it in records if it["record"] == "started" and it["eval_id"] == case["eval_id"])
        turns = [turn for it in records if it["record"] == "ran" and it["test"] == test for turn in it["transcript"]["turns"]]
        decided = [it["at"] for it in records if it["record"] == "decided" and it["test"] == test]
        case["ends"] = [turn.get("creation_timestamp", 0) + turn.get("duration", 0) for turn in turns]
        case["ends"] += [datetime.datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp() for at in decided]
        events = [event for turn in turns for event in turn.get("events", []) if not event.get("partial")]
        case["did"] = [done(part) for event in events for part in (event.get("content") or {}).get("parts") or []]
    return found


def done(part):
    """A part of an event, without its id."""
    call, response = part.get("function_call"), part.get("function_response")
    return call and [call["name"], call.get("args")] or response and [response["name"], response["response"]] or part.get("text")


def differences(ran):
    """The lines that a miss shows as recorded or asked."""
    return [line.strip("| \n") for line in ran.stdout.splitlines() if re.match(r"\s*\| +[-+] ", line)]
