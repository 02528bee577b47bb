#!/usr/bin/env python3
"""Files of `evalset.otel`: they are what OpenTelemetry's own exporter says, and the real command reads an agent's.

    check_traces.py PYTHON BINARY FOLDER

PYTHON has the packages of tests/otlp/frameworks/requirements.txt. FOLDER gets the files.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

SPANS = """
import base64, json
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SimpleSpanProcessor
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState
from opentelemetry import trace
from evalset.otel import document, write_traces

class Kept(SpanExporter):
    spans = []
    def export(self, spans):
        self.spans += spans

given = TracerProvider(resource=Resource({"service.name": "desk"}), span_limits=SpanLimits(max_attributes=12, max_events=1))
given.add_span_processor(SimpleSpanProcessor(Kept()))
trace.set_tracer_provider(given)
assert write_traces("spans.jsonl") is given
tracer = trace.get_tracer("app", "1.0", schema_url="https://example.test/1")
remote = SpanContext(2**127 + 5, 2**63 + 7, True, TraceFlags(1), TraceState([("vendor", "x")]))
values = [True, 7, -(2**62), 1.5, 1e300, "text", "", b"bytes", (1, 2), ("a", "b"), (1.0, 2.0), (True,), "more", "lost"]
with tracer.start_as_current_span("outer", kind=SpanKind.SERVER, context=trace.set_span_in_context(trace.NonRecordingSpan(remote)), links=[Link(remote, {"why": "w"})]) as outer:
    for at, value in enumerate(values):
        outer.set_attribute(f"key{at}", value)
    with tracer.start_as_current_span("inner") as inner:
        inner.add_event("first", {"a": 1})
        inner.add_event("second", {"a": 1})
        inner.set_status(Status(StatusCode.ERROR, "failed"))
    with trace.get_tracer("bare").start_as_current_span("plain"):
        pass

def hexed(value, key=None):
    if isinstance(value, dict):
        return {name: hexed(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [hexed(one) for one in value]
    return base64.b64decode(value).hex() if key in ("traceId", "spanId", "parentSpanId") else value

for span, line in zip(Kept.spans, open("spans.jsonl"), strict=True):
    true = hexed(MessageToDict(encode_spans([span]), use_integers_for_enums=True))
    assert json.loads(line) == true, f"{line} is not {json.dumps(true)}"
print(len(Kept.spans))
"""

# OpenTelemetry's own exporter refuses halves of characters.
HALVES = """
from opentelemetry.trace import Status, StatusCode
from evalset.otel import write_traces

half = "half " + chr(0xD83D)
tracer = write_traces("halves.jsonl").get_tracer(half, half)
with tracer.start_as_current_span(half) as span:
    span.set_attribute("gen_ai.operation.name", "invoke_agent")
    span.set_attribute("session.id", half)
    span.set_attribute("list" + half, [half, "\\ud83d\\ude00"])
    span.add_event(half, {half: half})
    span.set_status(Status(StatusCode.ERROR, half))
"""

AGENT = """
import asyncio
from evalset.otel import write_traces
write_traces("traces.jsonl")

import story
from pydantic_ai_agent import agent

agent.instrument = True

async def main():
    for prompt in story.PROMPTS[:3]:
        history = []
        for turn in prompt["turns"]:
            history = (await agent.run(turn, message_history=history, conversation_id=prompt["id"])).all_messages()

asyncio.run(main())
"""

# A provider that stands before the SDK's, as Logfire's, and one that takes no processor.
PROVIDERS = """
import json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from evalset.otel import write_traces

class Before(trace.TracerProvider):
    def __init__(self):
        self.provider = TracerProvider()
    def add_span_processor(self, processor):
        self.provider.add_span_processor(processor)
    def get_tracer(self, *args, **options):
        return self.provider.get_tracer(*args, **options)

given = Before() if sys.argv[1] == "before" else trace.NoOpTracerProvider()
trace.set_tracer_provider(given)
try:
    assert write_traces("before.jsonl") is given
except RuntimeError as error:
    print(error)
with trace.get_tracer("t").start_as_current_span("told"):
    pass
"""

# A disk that is full for one span.
TORN = r"""
import os
from unittest import mock
from evalset.otel import write_traces

tracer = write_traces("torn.jsonl").get_tracer("t")
write = os.write

def full(file, rest):
    write(file, bytes(rest[:20]))
    raise OSError(28, "No space left on device")

for name in ("before", "lost", "after"):
    with mock.patch("os.write", full if name == "lost" else write), tracer.start_as_current_span(name):
        pass
"""

CASES = {
    "memory": (
        ["What is the weather in Paris?", "What did I ask?"],
        ["It is sunny in Paris.", "You asked: What is the weather in Paris?"],
    ),
    "parallel": (["Compare Oslo and Bergen"], ["Rain in both."]),
}


def main():
    python, binary, folder = (Path(argument).absolute() for argument in sys.argv[1:4])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE / "frameworks")]),
        "PYTHONWARNINGS": "ignore",
    }

    def run(*words, code=0):
        done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == code, f"{done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    spans = run(python, "-c", SPANS).strip()
    run(python, "-c", HALVES)
    written = (folder / "halves.jsonl").read_text()
    written.encode()
    assert written.count("half \\ufffd") == 10 and written.count("\\ud83d") == 1, written
    # It can be read; 1 says that no text of the user was captured.
    read = run(binary, "evalset", "traces", "halves.jsonl", "--format", "json", code=1)
    assert "user_not_captured" in read, read
    run(python, "-c", PROVIDERS, "before")
    written = (folder / "before.jsonl").read_text()
    assert written.count('"name": "told"') == 1, written
    refused = run(python, "-c", PROVIDERS, "none")
    assert "no spans would be written to before.jsonl: " in refused and "a `opentelemetry.trace.NoOpTracerProvider`" in refused, refused
    run(python, "-c", TORN)
    lines = (folder / "torn.jsonl").read_text().splitlines()
    assert len(lines) == 3 and "before" in lines[0] and json.loads(lines[2]) and "after" in lines[2], lines
    run(python, "-c", AGENT)
    read = json.loads(run(binary, "evalset", "traces", "traces.jsonl", "--format", "json"))
    calls = [
        call["args"]["city"]
        for it in read["conversations"]
        for turn in it["turns"]
        for call in turn["calls"]
        if "city" in call["args"]
    ]
    assert sorted(calls) == ["Bergen", "Oslo", "Paris"], read
    turns = {
        id: [
            {"user_content": {"parts": [{"text": user}]}, "final_response": {"parts": [{"text": answer}]}}
            for user, answer in zip(*said)
        ]
        for id, said in CASES.items()
    }
    cases = [{"eval_id": id, "conversation": conversation} for id, conversation in turns.items()]
    (folder / "story.evalset.json").write_text(json.dumps({"eval_set_id": "story", "eval_cases": cases}))
    words = [
        binary,
        "evalset",
        "run",
        "story.evalset.json",
        "--trace",
        "traces.jsonl",
        "-m",
        "response_match_score",
        "--allow-uncovered",
    ]
    run(*words)
    changed = (folder / "story.evalset.json").read_text().replace("Rain in both.", "Nothing of the kind.")
    (folder / "story.evalset.json").write_text(changed)
    run(*words, code=1)
    print(f"{spans} spans are as OpenTelemetry's exporter writes them, and the command reads an agent's")


main()
