"""The weather agent as an agent of google-adk whose model is a script."""

import re

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import ToolContext
from google.genai import types


class Script(BaseLlm):
    model: str = "script"

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            part = types.Part(text=f"It is sunny in {last.function_response.response['city']}.")
        else:
            city = re.search(r"weather in (\w+)", last.text)[1]
            part = types.Part(function_call=types.FunctionCall(name="get_weather", args={"city": city}))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def get_weather(city: str, tool_context: ToolContext) -> dict:
    """The weather in a city."""
    tool_context.state["last_city"] = city
    return {"sky": "sunny", "city": city}


root_agent = LlmAgent(
    name="weather_agent", model=Script(), instruction="Answer questions on the weather.", tools=[get_weather]
)
