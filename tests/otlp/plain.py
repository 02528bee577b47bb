"""The Python SDK of OpenTelemetry without any framework: a turn with a tool call, sent with gzip in batches of two spans.

    plain.py CITY
"""

import json
import sys

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

city = sys.argv[1]


def messages(role, text):
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


provider = TracerProvider(resource=Resource.create({"service.name": "plain"}))
exporter = OTLPSpanExporter(compression=Compression.Gzip)
provider.add_span_processor(BatchSpanProcessor(exporter, max_export_batch_size=2))
tracer = provider.get_tracer("plain")
with tracer.start_as_current_span("invoke_agent weather") as agent:
    agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "weather", "scores": [0.5, 1.0]})
    with tracer.start_as_current_span("execute_tool get_weather") as tool:
        tool.set_attributes({
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.arguments": json.dumps({"city": city}),
            "gen_ai.tool.call.result": json.dumps({"sky": "clear"}),
        })
    with tracer.start_as_current_span("chat m") as chat:
        chat.set_attributes({
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.input.messages": messages("user", "Do I need a coat? ☂"),
            "gen_ai.output.messages": messages("assistant", "No."),
            "gen_ai.usage.input_tokens": 30,
            "gen_ai.usage.output_tokens": 9,
        })
    with tracer.start_as_current_span("other"):
        pass
    print(f"{agent.get_span_context().trace_id:032x}")
assert provider.force_flush()
provider.shutdown()
