"""An agent of pydantic-ai. Its handoff is a tool that asks another agent."""

import story
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage


def model(messages, info):
    users, number = [], 0
    for message in messages:
        for part in message.parts:
            if part.part_kind == "user-prompt":
                users.append(story.said(part.content))
                number = -1
        number += message.kind == "response" or number < 0
    text, calls = story.step(users, number)
    parts = [TextPart(text)] if text else []
    parts += [ToolCallPart(name.replace("@", ""), args) for name, args in calls]
    return ModelResponse(parts=parts, usage=RequestUsage(input_tokens=10, output_tokens=5))


agent = Agent(FunctionModel(model), name="desk")
agent.tool_plain(story.get_weather)


@agent.tool_plain
def delete(number: int) -> str:
    """Deletes a file."""
    try:
        return story.delete(number)
    except ValueError as error:
        raise ModelRetry(str(error)) from error


@agent.tool_plain
async def nurse() -> str:
    """Asks the nurse."""
    return (await Agent(FunctionModel(model), name="nurse").run("Are you there?")).output
