"""Traces of an agent in a file, which `evalset run --trace` and `evalset traces` read.

    from evalset.otel import write_traces

    write_traces("traces.jsonl")

The package `opentelemetry-sdk` is needed.
"""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from ._json import whole

try:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
except ImportError as error:
    raise ImportError("evalset.otel needs the package `opentelemetry-sdk`: pip install opentelemetry-sdk") from error


def write_traces(path: str | os.PathLike[str]) -> trace.TracerProvider:
    """Appends each span to a file when it ends, and returns the provider of the spans.

    If OpenTelemetry is set up already, its provider gets another processor. Otherwise a provider is set up.
    """
    provider: Any = trace.get_tracer_provider()
    # Not only the SDK's own has the method: Logfire's stands before one.
    if not callable(getattr(provider, "add_span_processor", None)):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
        if (used := trace.get_tracer_provider()) is not provider:
            kind = f"{type(used).__module__}.{type(used).__qualname__}"
            raise RuntimeError(
                f"no spans would be written to {os.fspath(path)}: OpenTelemetry is set up with a `{kind}`, which takes no processor; "
                "call `write_traces` before it is set up, or set up a provider of `opentelemetry-sdk`"
            )
    provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(path)))
    return provider  # type: ignore[no-any-return]


class FileSpanExporter(SpanExporter):
    """Appends spans to a file, as lines of OTLP in JSON. A line is written whole, also by several processes."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        # On Windows a line would end otherwise.
        binary = getattr(os, "O_BINARY", 0)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | binary, 0o644)
        self._lock = threading.Lock()
        # Whether a line was cut short, as on a full disk. The next one begins on a line of its own.
        self._is_torn = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        line = json.dumps(document(spans)).encode() + b"\n"
        with self._lock:
            if self._file < 0:
                return SpanExportResult.FAILURE
            rest = memoryview(b"\n" + line if self._is_torn else line)
            self._is_torn = True
            while rest:
                rest = rest[os.write(self._file, rest) :]
            self._is_torn = False
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1


def document(spans: Sequence[ReadableSpan]) -> dict[str, Any]:
    """Spans as OTLP in JSON: ids in hexadecimal, 64-bit integers and times as texts."""
    return {"resourceSpans": [_of_resource(span) for span in spans]}


def _of_resource(span: ReadableSpan) -> dict[str, Any]:
    scope = span.instrumentation_scope
    spans: dict[str, Any] = {"spans": [_span(span)]}
    if scope is not None:
        version = {"version": whole(scope.version)} if scope.version else {}
        spans["scope"] = {"name": whole(scope.name), **version, **_attributes(scope.attributes)}
        spans |= {"schemaUrl": scope.schema_url} if scope.schema_url else {}
    schema = {"schemaUrl": span.resource.schema_url} if span.resource.schema_url else {}
    return {"resource": _attributes(span.resource.attributes), "scopeSpans": [spans], **schema}


def _span(span: ReadableSpan) -> dict[str, Any]:
    context = span.get_span_context()
    assert context is not None
    found: dict[str, Any] = {
        "traceId": f"{context.trace_id:032x}",
        "spanId": f"{context.span_id:016x}",
        "name": whole(span.name),
        # In OTLP 0 says that the kind is not known.
        "kind": span.kind.value + 1,
        "startTimeUnixNano": str(span.start_time or 0),
        "endTimeUnixNano": str(span.end_time or 0),
        "flags": _flags(span.parent),
        **_attributes(span.attributes),
        **_dropped("droppedAttributesCount", span.dropped_attributes),
        **_dropped("droppedEventsCount", span.dropped_events),
        **_dropped("droppedLinksCount", span.dropped_links),
        "status": {
            **({"code": span.status.status_code.value} if span.status.status_code.value else {}),
            **({"message": whole(span.status.description)} if span.status.description else {}),
        },
    }
    if span.parent is not None:
        found["parentSpanId"] = f"{span.parent.span_id:016x}"
    if context.trace_state:
        found["traceState"] = ",".join(f"{key}={value}" for key, value in context.trace_state.items())
    if span.events:
        found["events"] = [
            {
                "name": whole(event.name),
                "timeUnixNano": str(event.timestamp),
                **_attributes(event.attributes),
                **_dropped("droppedAttributesCount", event.dropped_attributes),
            }
            for event in span.events
        ]
    if span.links:
        found["links"] = [
            {
                "traceId": f"{link.context.trace_id:032x}",
                "spanId": f"{link.context.span_id:016x}",
                "flags": _flags(link.context),
                **_attributes(link.attributes),
                **_dropped("droppedAttributesCount", link.dropped_attributes),
            }
            for link in span.links
        ]
    return found


def _flags(context: trace.SpanContext | None) -> int:
    """That it is known whether the context is remote, and whether it is."""
    return 0x300 if context is not None and context.is_remote else 0x100


def _dropped(key: str, count: int) -> dict[str, int]:
    return {key: count} if count else {}


def _attributes(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    if not attributes:
        return {}
    return {"attributes": [{"key": whole(str(key)), "value": _value(value)} for key, value in attributes.items()]}


def _value(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        is_number = value - value == 0
        return {"doubleValue": value if is_number else "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": [{"key": whole(str(key)), "value": _value(one)} for key, one in value.items()]}}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return {"arrayValue": {"values": [_value(one) for one in value]}}
    return {"stringValue": whole(str(value))}
