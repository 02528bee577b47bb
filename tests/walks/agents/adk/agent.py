"""An agent of google-adk whose model is a script: what it calls and answers is in `script.json`, by all that the user has said."""

import json
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import BaseTool
from google.genai import types

SCRIPT = json.loads(Path(__file__).with_name("script.json").read_text())


class Scripted(BaseLlm):
    model: str = "script"

    async def generate_content_async(self, llm_request, stream=False):
        said, last = [], llm_request.contents[-1].parts[-1]
        for content in llm_request.contents:
            if content.role == "user" and not any(part.function_response for part in content.parts):
                said.append("".join(part.text or "" for part in content.parts))
        turn = SCRIPT["\n".join(said)]
        parts = [types.Part(text=turn["answer"])]
        if turn["calls"] and not last.function_response:
            parts = [types.Part(function_call=types.FunctionCall(name=it["name"], args=it["args"])) for it in turn["calls"]]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


class Tool(BaseTool):
    """A tool that takes any arguments."""

    def _get_declaration(self):
        return types.FunctionDeclaration(name=self.name, description=self.description)

    async def run_async(self, *, args, tool_context):
        return {"status": "done"}


names = sorted({call["name"] for turn in SCRIPT.values() for call in turn["calls"]})
tools = [Tool(name=name, description=name) for name in names]
root_agent = LlmAgent(name="home", model=Scripted(), instruction="Help.", tools=tools)
