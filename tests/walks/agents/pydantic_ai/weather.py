"""An agent of pydantic-ai, with a function in place of its model."""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


def model(messages, info):
    last = messages[-1].parts[-1]
    if last.part_kind == "tool-return":
        return ModelResponse(parts=[TextPart(f"It is {last.content['sky']} in {last.content['city']}.")])
    city = last.content.rstrip("?").split()[-1]
    return ModelResponse(parts=[ToolCallPart("get_weather", {"city": city})])


agent = Agent(FunctionModel(model))


@agent.tool_plain
def get_weather(city: str) -> dict:
    """The weather in a city."""
    return {"sky": "sunny", "city": city}
