"""What happened in production, as google-adk 2.13.0 leaves it: the spans of one conversation, and a database with another.

    PYTHON happened.py AGENTS APP TRACED STORED

Says TRACED to the app and writes the spans into `trace.json`, as OTLP; says STORED in a session of `SqliteSessionService` in
`sessions.db`.
"""

import asyncio
import importlib
import json
import logging
import os
import sys

# Without these, spans of google-adk 2.13.0 do not say what the user and the agent said.
os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"

from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


def value(of):
    if isinstance(of, bool):
        return {"boolValue": of}
    if isinstance(of, int):
        return {"intValue": str(of)}
    if isinstance(of, float):
        return {"doubleValue": of}
    if isinstance(of, (list, tuple)):
        return {"arrayValue": {"values": [value(item) for item in of]}}
    return {"stringValue": str(of)}


def otlp(span):
    out = {
        "traceId": f"{span.context.trace_id:032x}",
        "spanId": f"{span.context.span_id:016x}",
        "name": span.name,
        "startTimeUnixNano": str(span.start_time),
        "endTimeUnixNano": str(span.end_time),
        "attributes": [{"key": key, "value": value(of)} for key, of in (span.attributes or {}).items()],
    }
    if span.parent:
        out["parentSpanId"] = f"{span.parent.span_id:016x}"
    return out


async def say(agent, app, service, session_id, words):
    runner = Runner(app_name=app, agent=agent, session_service=service)
    await service.create_session(app_name=app, user_id="anna", session_id=session_id)
    message = types.Content(role="user", parts=[types.Part(text=words)])
    async for _ in runner.run_async(user_id="anna", session_id=session_id, new_message=message):
        pass


async def main(agents, app, traced, stored):
    sys.path.insert(0, agents)
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    agent = importlib.import_module(f"{app}.agent").root_agent
    await say(agent, app, InMemorySessionService(), "traced", traced)
    scopes = {}
    for span in spans.get_finished_spans():
        scopes.setdefault(span.instrumentation_scope.name, []).append(otlp(span))
    scoped = [{"scope": {"name": name}, "spans": all} for name, all in scopes.items()]
    with open("trace.json", "w", encoding="utf-8") as file:
        json.dump({"resourceSpans": [{"scopeSpans": scoped}]}, file)
    await say(agent, app, SqliteSessionService("sessions.db"), "s-17", stored)


logging.disable(logging.CRITICAL)
asyncio.run(main(*sys.argv[1:]))
