#!/usr/bin/env python3
"""Requests of the service whose bodies are twice as large: processor time of the large one over that of the small one.

    benches/growth.py [--megabytes 2] [--rounds 3] [--seconds 0.3] [--only NAME..]

Each shape has many of something: cases and conversations, spans below each other, calls in another order, mistakes. Both sizes
are asked in alternation of one server, which is started anew where it takes no answer any more. Work that grows with the size
has the ratio 2, with its square 4. Where the system does not say what a process takes (all but Linux), the clock is read.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import measure

JSON = "application/json"


def span(trace, number, name, parent=0, ids=None, **attributes):
    values = [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()]
    start = 1760000000000000000 + number * 1000
    return {"traceId": f"{trace + 1:032x}", "spanId": f"{ids or number + 1:016x}", "parentSpanId": f"{parent:016x}" if parent else "",
            "name": name, "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 500), "attributes": values}


def says(role, text):
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def chat(trace, number, text, **more):
    return span(trace, number, "chat m", gen_ai__operation__name="chat", gen_ai__request__model="m",
                gen_ai__input__messages=says("user", text), gen_ai__output__messages=says("assistant", "ok"), **more)


def agent(trace, number, name, parent=0):
    return span(trace, number, "agent", parent, gen_ai__operation__name="invoke_agent", gen_ai__agent__name=name)


def tool(trace, number, parent, name="t", ids=None):
    return span(trace, number, "tool", parent, ids, gen_ai__operation__name="execute_tool", gen_ai__tool__name=name,
                gen_ai__tool__call__arguments="{}")


def export(spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def case(name, text):
    return {"eval_id": name, "conversation": [{"user_content": {"parts": [{"text": text}]}}]}


def turn(text="a", answer=None, calls=None):
    found = {"user_content": {"parts": [{"text": text}]}}
    if answer is not None:
        found["final_response"] = {"parts": [{"text": answer}]}
    if calls is not None:
        found["intermediate_data"] = {"tool_uses": calls}
    return found


def evaluate(spans, cases=None, evaluators=({"name": "tool_trajectory_avg_score"},), **config):
    body = {"traces": export(spans), "config": {"evaluators": list(evaluators), **config}}
    if cases is not None:
        body["evalSet"] = {"eval_set_id": "s", "eval_cases": list(cases)}
    return "/api/evaluate/json", JSON, json.dumps(body)


def convert(spans):
    boundary = "b0undary"
    body = (f"--{boundary}\r\ncontent-disposition: form-data; name=\"trace_files\"; filename=\"t.json\"\r\n"
            f"content-type: application/json\r\n\r\n{json.dumps(export(spans))}\r\n--{boundary}--\r\n")
    return "/api/convert", f"multipart/form-data; boundary={boundary}", body


def score(actual, expected, criteria):
    return "/api/v1/score", JSON, json.dumps({"actual": actual, "expected": expected, "criteria": criteria})


def validate(cases):
    return "/api/v1/validate/eval-set", JSON, json.dumps({"eval_set_id": "s", "eval_cases": list(cases)})


def calls(numbers, **args):
    return [{"name": "t", "args": {"n": number, **args}} for number in numbers]


def any_order(n, args_match):
    criterion = {"threshold": 1, "match_type": "ANY_ORDER", "args_match": args_match}
    more = {"more": 1} if args_match == "subset" else {}
    return score([turn(calls=calls(range(n), **more))], [turn(calls=calls(reversed(range(n))))],
                 {"tool_trajectory_avg_score": criterion})


def compared(n, metric, options=None):
    """Turns whose calls are expected in another order, 100 a turn."""
    criteria = {metric: {"threshold": 1, **(options or {})}}
    actual = [turn(calls=calls(range(100))) for _ in range(n)]
    return score(actual, [turn(calls=calls(reversed(range(100)))) for _ in range(n)], criteria)


def answers(n, algorithm):
    texts = ["".join(" abcdefghijklmnopqrstuv"[(at * at * step >> 3) % 23] for at in range(2000)) for step in (3, 7)]
    turns = [[turn(answer=text) for _ in range(n)] for text in texts]
    return score(*turns, {"response_similarity": {"threshold": 0.1, "algorithm": algorithm}})


def continued(n):
    """Model calls in a trace each, which go on with the tools that the one before asked for."""
    for at in range(n):
        call = [{"role": "assistant", "parts": [{"type": "tool_call", "id": f"c{at}", "name": "t", "arguments": {}}]}]
        sent = [{"role": "user", "parts": [{"type": "text", "content": "go"}]}]
        if at:
            sent.append({"role": "tool", "parts": [{"type": "tool_call_response", "id": f"c{at - 1}", "result": "r"}]})
        yield span(at, at, "chat m", gen_ai__operation__name="chat", gen_ai__request__model="m", gen_ai__conversation__id="c",
                   gen_ai__input__messages=json.dumps(sent), gen_ai__output__messages=json.dumps(call))


def twice(n):
    for at in range(n):
        yield from [chat(at, at, "hi", gen_ai__conversation__id="c")] * 2


def named_cases(n):
    """One conversation whose traces name a case each, and repeat their spans."""
    for at in range(n):
        yield from [chat(at, at, "hi", gen_ai__conversation__id="c", agentevals__eval__case__id=f"c{at}")] * 2


def with_events(n):
    """A model call that says each message in an event."""
    call = span(0, 0, "chat m", gen_ai__operation__name="chat")
    call["events"] = [{"name": "gen_ai.user.message", "timeUnixNano": str(at), "attributes": [
        {"key": "content", "value": {"stringValue": f"say {at}"}}]} for at in range(n)]
    return [call]


def responded(n):
    """A turn whose tools are expected to return something else, in another order."""
    def made(order, value):
        data = {"tool_uses": [{"id": f"c{at}", "name": "t", "args": {"n": at}} for at in order],
                "tool_responses": [{"id": f"c{at}", "name": "t", "response": {"is": value}} for at in order]}
        return [{**turn(), "intermediate_data": data}]

    return score(made(range(n), "a"), made(range(n - 1, -1, -1), "b"), {"tool_response_match": 1})


RUBRIC = {"id": "r", "text": "x" * 100}

# By name: what makes a request with so many of something, and how many make about a megabyte.
SHAPES = {
    "cases and conversations": (
        lambda n: evaluate([chat(at, at, f"say {at}") for at in range(n)], [case(f"c{at}", f"say {at}") for at in range(n)]), 1400),
    "cases of no conversation": (
        lambda n: evaluate([chat(at, at, f"say {at}") for at in range(n)], [case(f"c{at}", f"ask {at}") for at in range(n)]), 1400),
    "cases and conversations with equal words": (
        lambda n: evaluate([chat(at, at, "hi") for at in range(n)], [case(f"c{at}", "hi") for at in range(n)]), 1400),
    "a long beginning, and cases": (
        lambda n: evaluate([chat(0, 0, "Wie heißt das? " * 10 * n)], [case(f"c{at}", f"say {at}") for at in range(n)]), 2000),
    "a case with a long id, and others": (
        lambda n: evaluate([chat(0, 0, "hi")], [case("c" * 100 * n, "hi"), *(case(f"c{at}", "hi") for at in range(n))]), 4000),
    "cases with one id": (
        lambda n: evaluate([chat(0, 0, "hi")], [case("c", f"say {at}") for at in range(n)]), 9000),
    "a metric with a long name, and conversations": (
        lambda n: evaluate([chat(at, at, "hi") for at in range(n)], evaluators=[{"name": "x" * 400 * n}]), 1000),
    "rubrics, and conversations": (
        lambda n: evaluate([chat(at, at, f"say {at}") for at in range(n)], [case(f"c{at}", f"say {at}") for at in range(n)],
                           [{"name": "tool_trajectory_avg_score", "rubrics": [{**RUBRIC, "id": f"r{at}"} for at in range(n)]}]), 1000),
    "spans of one parent": (
        lambda n: convert([agent(0, 0, "a"), *(tool(0, at + 1, 1) for at in range(n))]), 2600),
    "spans below each other": (
        lambda n: convert([agent(0, 0, "a"), *(tool(0, at + 1, at + 1) for at in range(n))]), 2600),
    "spans with one id": (
        lambda n: convert([agent(0, 0, "a"), *(tool(0, at + 1, 1, ids=7) for at in range(n))]), 2600),
    "spans of a turn with a long name of its agent": (
        lambda n: convert([agent(0, 0, "a" * 400 * n), *(span(0, at + 1, "c", 1, gen_ai__operation__name="chat",
                           gen_ai__output__messages=says("assistant", "ok")) for at in range(n))]), 1400),
    "events of a span": (lambda n: convert(with_events(n)), 6000),
    "traces that go on with each other": (lambda n: convert(continued(n)), 1000),
    "traces of one conversation with a doubt each": (lambda n: convert(twice(n)), 700),
    "traces of one conversation with a case each": (lambda n: convert(named_cases(n)), 600),
    "calls in any order": (lambda n: any_order(n, "exact"), 13000),
    "calls in any order, with more arguments": (lambda n: any_order(n, "subset"), 10000),
    "responses in another order": (responded, 4500),
    "turns, calls in order": (lambda n: compared(n, "trajectory_match_ratio"), 130),
    "turns, levenshtein": (lambda n: answers(n, "levenshtein"), 240),
    "turns, rouge_l": (lambda n: answers(n, "rouge_l"), 240),
    "turns that cannot be read": (
        lambda n: score([{"user_content": at} for at in range(n)], [], {"tool_trajectory_avg_score": 1}), 40000),
    "cases that repeat an id": (lambda n: validate(case("c", "hi") for _ in range(n)), 9500),
    "keys that are not known": (lambda n: validate([{**case("c", "hi"), **{f"evalIdd{at}": 1 for at in range(n)}}]), 60000),
    "keys that are there twice": (
        lambda n: ("/api/v1/validate/eval-set", JSON, '{"eval_set_id": "s", "eval_cases": [{' + '"eval_id": "c", ' * n + '"conversation": []}]}'), 60000),
    "rubrics with one id": (lambda n: validate([{**case("c", "hi"), "rubrics": [
        {"rubric_id": "r", "rubric_content": {"text_property": "x"}} for _ in range(n)]}]), 13000),
    "criteria that are not known": (
        lambda n: ("/api/v1/validate/config", JSON, json.dumps({"criteria": {f"response_match_scor{at}": 1 for at in range(n)}})), 30000),
}


class Server:
    """The example `serve` of eval-server."""

    def __init__(self, program):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([program, str(self.port)], **quiet)
        for _ in range(600):
            if self.process.poll() is not None:
                sys.exit("the server has ended")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        sys.exit("the server does not listen")

    def spent(self):
        """Seconds of all cores, without those in which the system finds memory; on the clock where the system does not say."""
        try:
            fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return time.perf_counter()
        return int(fields[11]) / os.sysconf("SC_CLK_TCK")

    def ask(self, path, kind, body):
        """The seconds that a request takes; None where the server gives none or none in time."""
        before = self.spent()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body, {"content-type": kind})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                answer.read()
        except urllib.error.HTTPError as error:
            error.read()
            # A refusal is an answer, but not that there was no time for one.
            if error.code == 503:
                return None
        except OSError:
            return None
        return self.spent() - before

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=2, help="of the smaller body; a body may have 16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="how long the smaller one is asked in a round, at least")
    parser.add_argument("--only", nargs="*", help="shapes whose names have one of these words")
    parser.add_argument("--server", help="a program that serves on the port that it is given; else the one of this workspace")
    options = parser.parse_args()
    report = measure.Report("the service: time for a body that is twice as large")
    target = measure.TARGET.parent
    program = options.server
    if not program:
        build = ["cargo", "build", "--locked", "--release", "-p", "eval-server", "--example", "serve"]
        measure.run(build, measure.WORKSPACE, CARGO_TARGET_DIR=str(target))
        program = target / "release" / "examples" / "serve"
    server = Server(program)
    try:
        for name, (make, per_megabyte) in SHAPES.items():
            if options.only and not any(word in name for word in options.only):
                continue
            count = max(1, int(per_megabyte * options.megabytes))
            small, large = ((path, kind, text.encode()) for path, kind, text in (make(count), make(2 * count)))
            # The least of each: what else the machine does only adds to it. Short ones are asked several times, as the system counts
            # in hundredths of a second.
            first = server.ask(*small)
            times = {size: [first] if first is None else [] for size in ("small", "large")}
            repeat = max(1, round(options.seconds / max(first or 1, 0.01)))
            for _ in range(options.rounds if first is not None else 0):
                for size, request in (("small", small), ("large", large)):
                    measure.progress(f"{name}: {size}")
                    spent = [server.ask(*request) for _ in range(repeat)]
                    times[size].append(None if None in spent else sum(spent) / repeat)
                if None in times["small"] + times["large"]:
                    break
            measure.progress("")
            if None in times["small"] + times["large"]:
                report.note(f"{name}: no answer in time, {len(small[2]) / 1e6:.1f} MB {times['small']}")
                report.at_most(name, float("inf"), 2.5)
                server.end()
                server = Server(program)
                continue
            few, many = (max(min(times[size]), 0.001) for size in ("small", "large"))
            report.note(f"{name}: {len(small[2]) / 1e6:.1f} MB {measure.in_ms(few)}, {len(large[2]) / 1e6:.1f} MB {measure.in_ms(many)}")
            report.at_most(name, many / few, 2.5)
    finally:
        server.end()
    report.end()


main()
