"""An agent whose model does what the user writes, and whose tools note in a file that they ran."""

import json
import os

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import FunctionTool, ToolContext
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.genai import types


def _note(what):
    with open(os.environ["REAL_TOOLS"], "a", encoding="utf-8") as notes:
        notes.write(what + "\n")


class Script(BaseLlm):
    """Makes the calls of a line together: `name {json} & name {json}`. Then it repeats what the tools answered."""

    model: str = "script"

    async def generate_content_async(self, llm_request, stream=False):
        _note("model")
        contents = llm_request.contents
        # What another agent did before a transfer arrives as a text of the user.
        is_told = lambda it: it.role == "user" and it.parts[0].text and it.parts[0].text.startswith("For context:")
        is_asked = lambda it: it.role == "user" and any(p.text for p in it.parts) and not is_told(it)
        asked = max(at for at, it in enumerate(contents) if is_asked(it))
        lines = [line for line in contents[asked].parts[-1].text.splitlines() if line.strip()]
        if any(map(is_told, contents)):
            lines = [line for line in lines if not line.startswith("transfer_to_agent")]
        answers = [
            [part.function_response for part in content.parts if part.function_response]
            for content in contents[asked:]
        ]
        answers = [of_line for of_line in answers if of_line]
        if len(answers) < len(lines):
            parts = []
            for call in lines[len(answers)].split(" & "):
                name, _, args = call.partition(" ")
                parts.append(types.Part(function_call=types.FunctionCall(name=name, args=json.loads(args or "{}"))))
        else:
            told = [json.dumps(answer.response, sort_keys=True) for of_line in answers for answer in of_line]
            parts = [types.Part(text="got " + " ".join(told))]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def get_weather(city: str, day: str = "today", tool_context: ToolContext = None) -> dict:
    """The weather in a city."""
    _note(f"get_weather {city}")
    tool_context.state["last_city"] = city
    return {"sky": "REAL"}


def refund(order: str) -> dict:
    """Pays an order back."""
    _note(f"refund {order}")
    return {"status": "REAL"}


def approve(order: str) -> dict:
    """Asks a person."""
    _note("approve")
    return None


def guard(tool, args, tool_context):
    _note(f"guard {tool.name}")
    return None


def rescue(tool, args, tool_context, error):
    _note(f"rescue {error}")
    return {"rescued": str(error)}


helper = LlmAgent(name="helper", model=Script(), description="helps", tools=[refund])
isolated = LlmAgent(name="isolated", model=Script(), description="isolated", tools=[refund])
billing = LlmAgent(name="billing", model=Script(), description="bills", tools=[refund])
careful = LlmAgent(
    name="careful",
    model=Script(),
    description="forgives",
    tools=[get_weather, FunctionTool(refund, require_confirmation=True)],
    on_tool_error_callback=rescue,
)
cached = LlmAgent(
    name="cached",
    model=Script(),
    description="remembers",
    tools=[get_weather],
    before_tool_callback=lambda tool, args, tool_context: {"sky": "cached"},
)
root_agent = LlmAgent(
    name="shop",
    model=Script(),
    tools=[
        get_weather,
        refund,
        LongRunningFunctionTool(approve),
        AgentTool(agent=helper),
        AgentTool(agent=isolated, include_plugins=False),
    ],
    sub_agents=[billing, careful, cached],
    before_tool_callback=guard,
)
