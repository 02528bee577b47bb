"""An agent of pydantic-ai.

    pydantic_ai_agent.py STORY [stream] [VERSION] [hidden]
"""

import asyncio

import capture
import story
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings


def said(messages):
    """The step that follows these messages."""
    users, number = [], 0
    for message in messages:
        for part in message.parts:
            if part.part_kind == "user-prompt":
                users.append(part.content)
                number = -1
        number += message.kind == "response" or number < 0
    text, calls = story.step(users[-1], number)
    return text, [(name.replace("@", ""), args) for name, args in calls]


def whole(messages, info):
    text, calls = said(messages)
    parts = [TextPart(text)] if text else []
    return ModelResponse(parts=[*parts, *(ToolCallPart(name, args) for name, args in calls)])


async def stream(messages, info):
    import json

    text, calls = said(messages)
    for at, word in enumerate(text.split(" ") if text else []):
        yield (" " if at else "") + word
    if calls:
        yield {at: DeltaToolCall(name, json.dumps(args)) for at, (name, args) in enumerate(calls)}


model = FunctionModel(whole, stream_function=stream)
agent = Agent(model, name="weather", instructions="Answer.", tools=[])
helper = Agent(model, name="helper")
helper.tool_plain(story.get_weather)
for tool in story.TOOLS[:-1]:
    agent.tool_plain(tool)


@agent.tool_plain
def fail(why: str) -> dict:
    """Fails."""
    try:
        return story.fail(why)
    except ValueError as error:
        return {"error": str(error)}


@agent.tool_plain(name="helper")
async def ask_helper(request: str) -> str:
    """Asks the helper."""
    truth.call("helper", {"request": request})
    return (await helper.run(request)).output


settings = {"include_content": "hidden" not in capture.OPTIONS}
version = [int(option) for option in capture.OPTIONS if option.isdigit()]
if version:
    settings["version"] = version[0]
for one in [agent, helper]:
    one.instrument = InstrumentationSettings(tracer_provider=capture.provider, **settings)
truth = story.Truth()


async def main():
    history = []
    for user, _ in story.STORIES[capture.STORY]:
        try:
            if "stream" in capture.OPTIONS:
                async with agent.run_stream(user, message_history=history) as result:
                    answer = await result.get_output()
            else:
                result = await agent.run(user, message_history=history)
                answer = result.output
            history = result.all_messages()
            truth.turn(user, answer)
        except RuntimeError:
            truth.turn(user, None, failed=True)
    truth.write("truth.json")


asyncio.run(main())
