"""A google-adk agent whose model is a script. It asks for the weather in the city that is given, and its traces go where
`OTEL_EXPORTER_OTLP_ENDPOINT` says, by google-adk's own exporter.

    agent.py CITY
"""

import asyncio
import sys

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.telemetry.setup import maybe_set_otel_providers
from google.genai import types
from opentelemetry import _logs, metrics, trace

CITY = sys.argv[1]


class Script(BaseLlm):
    model: str = "script"

    async def generate_content_async(self, llm_request, stream=False):
        if llm_request.contents[-1].parts[-1].function_response:
            parts = [types.Part(text="It is sunny.")]
        else:
            parts = [types.Part(function_call=types.FunctionCall(name="weather", args={"city": CITY}))]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def weather(city: str) -> dict:
    """The weather in a city."""
    return {"sky": "clear"}


async def main():
    maybe_set_otel_providers()
    agent = LlmAgent(name="weather_agent", model=Script(), instruction="Answer.", tools=[weather])
    runner = InMemoryRunner(agent=agent, app_name="weather")
    session = await runner.session_service.create_session(app_name="weather", user_id="anna")
    for words in ["Weather in Paris?", "And now?"]:
        message = types.Content(role="user", parts=[types.Part(text=words)])
        async for _ in runner.run_async(user_id="anna", session_id=session.id, new_message=message):
            pass
        # Each turn is an export of its own.
        assert trace.get_tracer_provider().force_flush()
    assert _logs.get_logger_provider().force_flush()
    assert metrics.get_meter_provider().force_flush()
    print(session.id)


asyncio.run(main())
