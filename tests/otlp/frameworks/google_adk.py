"""An agent of google-adk.

    google_adk.py STORY [stream]
"""

import asyncio

import capture
import story
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types


class Script(BaseLlm):
    model: str = "script"

    async def generate_content_async(self, llm_request, stream=False):
        users, number = [], 0
        for content in llm_request.contents:
            text = "".join(part.text or "" for part in content.parts)
            if content.role == "user" and text in story.ALL:
                users.append(text)
                number = 0
            elif content.role == "model" or "said" in text or "called tool" in text:
                number += 1
        if self.model == "nurse" and number > 1:
            number = 1
        text, calls = story.step(users[-1], number)
        parts = [types.Part(text=text)] if text else []
        for name, args in calls:
            if name == "@nurse":
                name, args = "transfer_to_agent", {"agent_name": "nurse"}
            parts.append(types.Part(function_call=types.FunctionCall(name=name.replace("@", ""), args=args)))
        if stream and text:
            for at, word in enumerate(text.split(" ")):
                part = types.Part(text=" " + word if at else word)
                yield LlmResponse(content=types.Content(role="model", parts=[part]), partial=True)
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=10, candidates_token_count=5)
        yield LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=usage)


def fail(why: str) -> dict:
    """Fails."""
    try:
        return story.fail(why)
    except ValueError as error:
        return {"error": str(error)}


helper = LlmAgent(name="helper", model=Script(), description="Helps.", tools=[story.get_weather])
nurse = LlmAgent(name="nurse", model=Script(model="nurse"), description="A nurse.")
tools = [*story.TOOLS[:-1], fail, AgentTool(helper)]
agent = LlmAgent(name="desk", model=Script(), instruction="Answer.", tools=tools, sub_agents=[nurse])


async def main():
    truth = story.Truth()
    runner = InMemoryRunner(agent=agent, app_name="desk")
    session = await runner.session_service.create_session(app_name="desk", user_id="anna")
    mode = StreamingMode.SSE if "stream" in capture.OPTIONS else StreamingMode.NONE
    for user, steps in story.STORIES[capture.STORY]:
        message = types.Content(role="user", parts=[types.Part(text=user)])
        answer, failed = None, False
        if any(name == "@nurse" for _, calls in steps for name, _ in calls):
            truth.call("transfer_to_agent", {"agent_name": "nurse"})
        for name, args in (call for _, calls in steps for call in calls if call[0] == "@helper"):
            truth.call("helper", args)
        try:
            config = RunConfig(streaming_mode=mode)
            events = runner.run_async(user_id="anna", session_id=session.id, new_message=message, run_config=config)
            async for event in events:
                if event.is_final_response() and event.content and not event.partial:
                    answer = "".join(part.text or "" for part in event.content.parts)
        except RuntimeError:
            failed = True
        truth.turn(user, answer, failed)
    truth.write("truth.json")


asyncio.run(main())
