"""An agent of google-adk, with a sub-agent and state."""

import story
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import ToolContext
from google.genai import types

KNOWN = {turn for prompt in story.PROMPTS for turn in prompt["turns"]}


class Script(BaseLlm):
    model: str = "script"

    async def generate_content_async(self, llm_request, stream=False):
        users, number = [], 0
        for content in llm_request.contents:
            files = [part.inline_data.mime_type for part in content.parts if part.inline_data]
            text = "".join(part.text or "" for part in content.parts) + "".join(f" [{file}]" for file in files)
            if content.role == "user" and (text in KNOWN or files):
                users.append(text)
                number = 0
            elif content.role == "model" or "said" in text or "called tool" in text:
                number += 1
        if self.model == "nurse":
            number = min(number, 1) if users[-1] == "Call the nurse" else 0
        text, calls = story.step(users, number)
        parts = [types.Part(text=text)] if text else []
        for name, args in calls:
            if name == "@nurse":
                name, args = "transfer_to_agent", {"agent_name": "nurse"}
            parts.append(types.Part(function_call=types.FunctionCall(name=name, args=args)))
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=10, candidates_token_count=5, total_token_count=15
        )
        yield LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=usage)


def get_weather(city: str, tool_context: ToolContext) -> dict:
    """The weather in a city."""
    tool_context.state["last_city"] = city
    return story.get_weather(city)


def delete(number: int) -> dict:
    """Deletes a file."""
    try:
        return {"deleted": story.delete(number)}
    except ValueError as error:
        return {"error": str(error)}


nurse = LlmAgent(name="nurse", model=Script(model="nurse"), description="A nurse.")
agent = LlmAgent(name="desk", model=Script(), instruction="Answer.", tools=[get_weather, delete], sub_agents=[nurse])
