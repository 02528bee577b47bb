#!/usr/bin/env python3
"""Agents export to `cargo evalset serve` with their own SDKs, and their sessions are shown, scored and saved.

    live.py PYTHON BINARY FOLDER

PYTHON has google-adk, BINARY is a cargo-evalset with the feature `serve`. The exporter of OpenTelemetry is installed into FOLDER,
in the version of PYTHON's SDK.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

PYTHON, BINARY, FOLDER = sys.argv[1:]
BINARY = str(Path(BINARY).resolve())
HERE = Path(__file__).resolve().parent
EXPORTER = Path(FOLDER).resolve() / "exporter"
METRICS = [
    {"name": "tool_trajectory_avg_score", "threshold": 1.0},
    {"name": "response_match_score", "threshold": 0.8},
]


def install():
    version = "import importlib.metadata as m; print(m.version('opentelemetry-sdk'))"
    version = subprocess.run([PYTHON, "-c", version], check=True, capture_output=True, text=True).stdout.strip()
    if not (EXPORTER / f"opentelemetry_exporter_otlp_proto_http-{version}.dist-info").exists():
        package = f"opentelemetry-exporter-otlp-proto-http=={version}"
        pip = [PYTHON, "-m", "pip", "install", "--quiet", "--target", str(EXPORTER), package]
        subprocess.run(pip, check=True)
    return version


class Service:
    def __init__(self, folder):
        command = [BINARY, "evalset", "serve", "--port", "0", "--otlp-port", "0"]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        url = re.fullmatch(r"serving on (http://\S+)/\?token=(\S+)\n", self.process.stdout.readline())
        self.url, self.token = url.groups()
        self.otlp = re.fullmatch(r"receiving traces on (\S+)\n", self.process.stdout.readline()).group(1)

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method)
        request.add_header("authorization", f"Bearer {self.token}")
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, data) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from None

    def export(self, script, city):
        """Runs an agent; the key of its session. An exporter that is refused anything says so on stderr."""
        env = {
            **os.environ,
            "PYTHONPATH": str(EXPORTER),
            "PYTHONWARNINGS": "ignore",
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.otlp,
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT",
        }
        done = subprocess.run([PYTHON, str(HERE / script), city], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for sign in ["Failed to export", "Transient error", "exporter", "Traceback"]:
            assert sign not in done.stderr, done.stderr
        return done.stdout.split()[-1]

    def session(self, key):
        """The session, once it is complete."""
        for _ in range(100):
            found = [it for it in self.ask("GET", "/api/v1/sessions")["sessions"] if it["key"] == key]
            if found and found[0]["state"] == "complete":
                return found[0]
            time.sleep(0.1)
        raise AssertionError(f"the session {key} is not complete: {self.ask('GET', '/api/v1/sessions')}")

    def verdict(self, session, golden):
        scores = self.ask(
            "POST", "/api/v1/sessions/score", {"golden": golden, "sessions": [session], "evaluators": METRICS}
        )
        return scores["sessions"][0]


def check(service, script, turns, tool, draft):
    keys = [service.export(script, city) for city in ["Paris", "Paris", "Rome"]]
    golden, good, changed = [service.session(key)["id"] for key in keys]
    shown = service.ask("GET", f"/api/v1/sessions/{golden}")
    assert shown["doubts"] == [], shown["doubts"]
    invocations = shown["conversation"]["invocations"]
    assert len(invocations) == turns, invocations
    for turn in invocations:
        calls = [(it["name"], it["args"]) for it in turn["intermediateData"]["toolUses"]]
        assert calls == [(tool, {"city": "Paris"})], calls
        assert turn["userContent"]["parts"][0]["text"] and turn["finalResponse"]["parts"][0]["text"], turn
    assert service.ask("PUT", f"/api/v1/sessions/{golden}/golden") == {"golden": golden}
    assert service.verdict(good, None)["verdict"] == "passed"
    failed = service.verdict(changed, None)
    assert failed["verdict"] == "failed" and failed["metricResults"][0]["score"] == 0.0, failed
    saved = service.ask("POST", f"/api/v1/sessions/{golden}/draft", {"set": f"evals/{draft}.evalset.json"})
    assert saved["evalId"], saved
    again = service.ask("POST", f"/api/v1/sessions/{good}/draft", {"set": f"evals/{draft}.evalset.json"})
    assert again["evalId"] is None, "an equal conversation is there already"
    return saved["evalId"]


def main():
    version = install()
    with tempfile.TemporaryDirectory() as folder:
        service = Service(folder)
        try:
            drafted = check(service, "agent.py", 2, "weather", "adk")
            check(service, "plain.py", 1, "get_weather", "plain")
            state = service.ask("GET", "/api/v1/sessions")
            assert state["refusedExports"] == 0 and state["removed"] == 0, state
            # The draft is a case once it is accepted, and tests refuse it before.
            checked = [BINARY, "evalset", "list", "evals/adk.evalset.json"]
            listed = subprocess.run(checked, cwd=folder, capture_output=True, text=True)
            assert "draft" in listed.stdout, listed
            accept = [BINARY, "evalset", "accept", f"evals/adk.evalset.json:{drafted}"]
            subprocess.run(accept, cwd=folder, check=True, capture_output=True)
            case = json.loads(Path(folder, "evals/adk.evalset.json").read_text())["eval_cases"][0]
            assert "_draft" not in case and len(case["conversation"]) == 2, case
        finally:
            service.process.terminate()
            assert service.process.wait(10) == 0
    print(f"google-adk's exporter and opentelemetry-sdk {version}: sessions, scores and drafts are right")


main()
