"""An agent of openai-agents, with a handoff."""

import itertools
import json

import story
from agents import Agent, Model, ModelResponse, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

set_tracing_disabled(True)
IDS = itertools.count(1)


class Script(Model):
    async def get_response(self, system_instructions, input, *args, **kwargs):
        items = input if isinstance(input, list) else [{"role": "user", "content": input}]
        users = [story.said(item["content"]) for item in items if item.get("role") == "user"]
        last = max(at for at, item in enumerate(items) if item.get("role") == "user")
        # Calls and texts of one answer are items of their own.
        kinds = [
            "out" if it.get("type") == "function_call" or it.get("role") == "assistant" else "in" for it in items[last + 1 :]
        ]
        text, calls = story.step(users, sum(kind == "out" for kind, _ in itertools.groupby(kinds)))
        output = []
        if text:
            content = [ResponseOutputText(text=text, type="output_text", annotations=[])]
            output.append(ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=content))
        for name, arguments in calls:
            name = name.replace("@", "transfer_to_")
            id = f"c{next(IDS)}"
            output.append(
                ResponseFunctionToolCall(
                    id=f"f{id}", call_id=id, type="function_call", name=name, arguments=json.dumps(arguments)
                )
            )
        return ModelResponse(
            output=output, usage=Usage(requests=1, input_tokens=10, output_tokens=5, total_tokens=15), response_id=None
        )

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


nurse = Agent(name="nurse", model=Script())
agent = Agent(
    name="desk", model=Script(), tools=[function_tool(story.get_weather), function_tool(story.delete)], handoffs=[nurse]
)
