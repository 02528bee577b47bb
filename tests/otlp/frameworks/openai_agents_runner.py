"""Agents of openai-agents under OpenInference.

    openai_agents_runner.py STORY chat|responses [stream]
"""

import asyncio

import capture
import openai
import story
from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, Runner, function_tool
from openai_server import serve
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

OpenAIAgentsInstrumentor().instrument(tracer_provider=capture.provider)
client = openai.AsyncOpenAI(base_url=serve(), api_key="none", max_retries=0)
kind = OpenAIChatCompletionsModel if "chat" in capture.OPTIONS else OpenAIResponsesModel
model = kind(model="m", openai_client=client)
TOOLS = [function_tool(tool, strict_mode=False) for tool in story.TOOLS]
helper = Agent(name="helper", model=model, tools=TOOLS[:1])


@function_tool(name_override="helper")
async def ask_helper(request: str) -> str:
    """Asks the helper."""
    truth.call("helper", {"request": request})
    return (await Runner.run(helper, request)).final_output


nurse = Agent(name="nurse", model=model, handoff_description="A nurse.")
agent = Agent(name="weather", model=model, tools=[*TOOLS, ask_helper], handoffs=[nurse])
truth = story.Truth()


async def main():
    history, current = [], agent
    for user, steps in story.STORIES[capture.STORY]:
        history.append({"role": "user", "content": user})
        if any(name == "@nurse" for _, calls in steps for name, _ in calls):
            truth.call("transfer_to_nurse", {})
        try:
            if "stream" in capture.OPTIONS:
                result = Runner.run_streamed(current, history)
                async for _ in result.stream_events():
                    pass
            else:
                result = await Runner.run(current, history)
            history, current = result.to_input_list(), result.last_agent
            truth.turn(user, result.final_output)
        except openai.APIError:
            truth.turn(user, None, failed=True)
    truth.write("truth.json")


asyncio.run(main())
