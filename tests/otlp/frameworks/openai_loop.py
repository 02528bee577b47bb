"""A loop written by hand over OpenAI's client, of which only the client is instrumented: each model call is a trace.

    openai_loop.py STORY openinference|traceloop|opentelemetry [stream] [root]
"""

import inspect
import json

import openai
import capture
import story
from openai_server import serve

library, options = capture.OPTIONS[0], capture.OPTIONS[1:]
if library == "openinference":
    from openinference.instrumentation.openai import OpenAIInstrumentor
elif library == "traceloop":
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor
else:
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
OpenAIInstrumentor().instrument(tracer_provider=capture.provider)

TOOLS = {tool.__name__: tool for tool in story.TOOLS}
SCHEMAS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {key: {} for key in inspect.signature(tool).parameters}},
        },
    }
    for name, tool in TOOLS.items()
]
client = openai.OpenAI(base_url=serve(), api_key="none", max_retries=0)


def ask(messages):
    asked = client.chat.completions.create(model="m", messages=messages, tools=SCHEMAS, stream="stream" in options)
    if "stream" not in options:
        return asked.choices[0].message.model_dump(exclude_none=True)
    text, calls = "", {}
    for chunk in asked:
        delta = chunk.choices[0].delta
        text += delta.content or ""
        for part in delta.tool_calls or []:
            call = calls.setdefault(part.index, {"type": "function", "function": {"name": "", "arguments": ""}})
            call["id"] = part.id or call["id"]
            call["function"]["name"] += part.function.name or ""
            call["function"]["arguments"] += part.function.arguments or ""
    return {"role": "assistant", "content": text or None, **({"tool_calls": list(calls.values())} if calls else {})}


def turn(messages):
    while True:
        message = ask(messages)
        messages.append(message)
        if not message.get("tool_calls"):
            return message["content"]
        for call in message["tool_calls"]:
            try:
                result = TOOLS[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
            except ValueError as error:
                result = f"error: {error}"
            text = result if isinstance(result, str) else json.dumps(result)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})


truth = story.Truth()
messages = [{"role": "system", "content": "You tell the weather."}]
tracer = capture.trace.get_tracer("app")
for user, _ in story.STORIES[capture.STORY]:
    messages.append({"role": "user", "content": user})
    try:
        if "root" in options:
            # The span of a web server above the model calls.
            with tracer.start_as_current_span("POST /chat"):
                answer = turn(messages)
        else:
            answer = turn(messages)
        truth.turn(user, answer)
    except openai.APIError:
        truth.turn(user, None, failed=True)
truth.write("truth.json")
