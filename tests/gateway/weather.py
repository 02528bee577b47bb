"""Agents around real clients of models, each with two tools that take a random time. `python weather.py NAME` serves one."""

import asyncio
import os
import random
import sys

INSTRUCTIONS = os.environ.get("GATEWAY_INSTRUCTIONS", "You answer about weather.")
STREAM = os.environ.get("GATEWAY_STREAM") == "1"
SWALLOW = os.environ.get("GATEWAY_SWALLOW") == "1"
SWAP = os.environ.get("GATEWAY_SWAP") == "1"
LATE = os.environ.get("GATEWAY_LATE") == "1"
RENAME = os.environ.get("GATEWAY_RENAME") == "1"
RESULT = os.environ.get("GATEWAY_RESULT", "sunny in {city}")

# The clients find the hosts of their providers themselves.
for name in os.environ.get("GATEWAY_UNSET", "").split():
    os.environ.pop(name, None)

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


async def get_weather(city: str) -> str:
    """Gets the weather of a city."""
    await asyncio.sleep(random.random() * 0.05)
    return RESULT.format(city=city)


async def together(turn, calls):
    """The results of the calls of one answer, which run at the same time and are recorded in their order."""
    results = await asyncio.gather(*(get_weather(**args) for _, args in calls))
    for (name, args), result in zip(calls, results):
        turn.tool_call(name, args, result)
    return results[::-1] if SWAP else results


def sent(calls, results):
    """Each call with its result, in the order in which they are sent. Some frameworks send first what ended first."""
    pairs = list(zip(calls, results))
    return pairs[::-1] if LATE else pairs


def renamed(id):
    return f"other_{id}" if RENAME else id


class OpenAiChat:
    """OpenAI's client, Chat Completions."""

    def __init__(self):
        import openai

        self.client = openai.AsyncOpenAI()
        self.messages = [{"role": "system", "content": INSTRUCTIONS}]

    async def ask(self):
        tools = [{"type": "function", "function": {"name": "get_weather", "description": "Gets the weather.", "parameters": SCHEMA}}]
        request = {"model": "gpt-5-mini", "messages": self.messages, "tools": tools}
        if not STREAM:
            message = (await self.client.chat.completions.create(**request)).choices[0].message
            calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or []]
            return message.content, calls
        text, calls = "", {}
        async for chunk in await self.client.chat.completions.create(**request, stream=True):
            delta = chunk.choices[0].delta
            text += delta.content or ""
            for call in delta.tool_calls or []:
                known = calls.setdefault(call.index, ["", "", ""])
                known[0] = call.id or known[0]
                known[1] += call.function.name or ""
                known[2] += call.function.arguments or ""
        return text, [tuple(call) for call in calls.values()]

    async def __call__(self, message, turn):
        import json

        self.messages.append({"role": "user", "content": message})
        while True:
            text, calls = await self.ask()
            if not calls:
                self.messages.append({"role": "assistant", "content": text})
                return text
            made = [{"id": renamed(i), "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
            self.messages.append({"role": "assistant", "tool_calls": made})
            results = await together(turn, [(name, json.loads(args)) for _, name, args in calls])
            for (id, _, _), result in sent(calls, results):
                self.messages.append({"role": "tool", "tool_call_id": renamed(id), "content": result})


class OpenAiResponses:
    """OpenAI's client, Responses."""

    def __init__(self):
        import openai

        self.client = openai.AsyncOpenAI()
        self.input = []

    async def __call__(self, message, turn):
        import json

        self.input.append({"role": "user", "content": message})
        tools = [{"type": "function", "name": "get_weather", "parameters": SCHEMA}]
        while True:
            request = {"model": "gpt-5-mini", "instructions": INSTRUCTIONS, "input": self.input, "tools": tools}
            if STREAM:
                async with self.client.responses.stream(**request) as stream:
                    async for _ in stream:
                        pass
                    response = await stream.get_final_response()
            else:
                response = await self.client.responses.create(**request)
            calls = [item for item in response.output if item.type == "function_call"]
            for call in calls:
                call.call_id = renamed(call.call_id)
            self.input += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
            if not calls:
                return response.output_text
            results = await together(turn, [(call.name, json.loads(call.arguments)) for call in calls])
            for call, result in sent(calls, results):
                self.input.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


class Anthropic:
    """Anthropic's client."""

    def __init__(self):
        import anthropic

        self.client = anthropic.AsyncAnthropic()
        self.messages = []

    async def __call__(self, message, turn):
        self.messages.append({"role": "user", "content": message})
        tools = [{"name": "get_weather", "description": "Gets the weather.", "input_schema": SCHEMA}]
        while True:
            request = {"model": "claude-sonnet-4-5", "max_tokens": 1000, "system": INSTRUCTIONS, "messages": self.messages, "tools": tools}
            if STREAM:
                async with self.client.messages.stream(**request) as stream:
                    message = await stream.get_final_message()
            else:
                message = await self.client.messages.create(**request)
            calls = [block for block in message.content if block.type == "tool_use"]
            for call in calls:
                call.id = renamed(call.id)
            self.messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in message.content]})
            if not calls:
                return "".join(block.text for block in message.content)
            results = await together(turn, [(call.name, call.input) for call in calls])
            blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": result} for call, result in sent(calls, results)]
            self.messages.append({"role": "user", "content": blocks})


class Gemini:
    """Google's client."""

    def __init__(self):
        from google import genai

        self.client = genai.Client()
        self.contents = []

    async def __call__(self, message, turn):
        from google.genai import types

        self.contents.append(types.Content(role="user", parts=[types.Part(text=message)]))
        declared = types.FunctionDeclaration(name="get_weather", description="Gets the weather.", parameters_json_schema=SCHEMA)
        config = types.GenerateContentConfig(system_instruction=INSTRUCTIONS, tools=[types.Tool(function_declarations=[declared])])
        while True:
            request = {"model": "gemini-2.5-flash", "contents": self.contents, "config": config}
            parts = []
            if STREAM:
                async for chunk in await self.client.aio.models.generate_content_stream(**request):
                    parts += chunk.candidates[0].content.parts or []
            else:
                parts = (await self.client.aio.models.generate_content(**request)).candidates[0].content.parts
            calls = [part.function_call for part in parts if part.function_call]
            for call in calls:
                call.id = renamed(call.id)
            self.contents.append(types.Content(role="model", parts=parts))
            if not calls:
                return "".join(part.text or "" for part in parts)
            results = await together(turn, [(call.name, call.args) for call in calls])
            answers = [types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response={"result": result})) for call, result in sent(calls, results)]
            self.contents.append(types.Content(role="user", parts=answers))


class Gather:
    """OpenAI's client, asked ten questions at once in random order: five that are equal, and five that are not."""

    def __init__(self):
        import openai

        self.client = openai.AsyncOpenAI()

    async def ask(self, question):
        await asyncio.sleep(random.random() * 0.01)
        messages = [{"role": "user", "content": question}]
        response = await self.client.chat.completions.create(model="gpt-5-mini", messages=messages)
        return response.choices[0].message.content

    async def __call__(self, message, turn):
        questions = [(at, f"{message} {at}" if at < 5 else message) for at in range(10)]
        random.shuffle(questions)
        answers = dict(zip([at for at, _ in questions], await asyncio.gather(*(self.ask(question) for _, question in questions))))
        return " | ".join([*(answers[at] for at in range(5)), *sorted(answers[at] for at in range(5, 10))])


class PydanticAiStream:
    """An agent of pydantic-ai that streams."""

    def __init__(self, agent):
        self.agent, self.history = agent, []

    async def __call__(self, message, turn):
        async def read(_, events):
            async for _ in events:
                pass

        result = await self.agent.run(message, message_history=self.history, event_stream_handler=read)
        self.history = result.all_messages()
        parts = [part for message in result.new_messages() for part in message.parts]
        returned = {part.tool_call_id: part.content for part in parts if part.part_kind == "tool-return"}
        for part in parts:
            if part.part_kind == "tool-call":
                turn.tool_call(part.tool_name, part.args_as_dict(), returned[part.tool_call_id])
        return result.output


class OpenAiAgentsStream:
    """An agent of openai-agents that streams."""

    def __init__(self, agent):
        self.agent, self.history = agent, []

    async def __call__(self, message, turn):
        import json

        from agents import Runner

        result = Runner.run_streamed(self.agent, [*self.history, {"role": "user", "content": message}])
        async for _ in result.stream_events():
            pass
        begun, self.history = len(self.history), result.to_input_list()
        items = self.history[begun:]
        returned = {item["call_id"]: item["output"] for item in items if item.get("type") == "function_call_output"}
        for item in items:
            if item.get("type") == "function_call":
                turn.tool_call(item["name"], json.loads(item["arguments"]), returned[item["call_id"]])
        return result.final_output


def pydantic_ai(model):
    def make():
        from pydantic_ai import Agent

        agent = Agent(model, system_prompt=INSTRUCTIONS, tools=[get_weather])
        return PydanticAiStream(agent) if STREAM else agent

    return make


def openai_agents(api):
    def make():
        from agents import Agent, function_tool, set_default_openai_api

        set_default_openai_api(api)
        agent = Agent(name="weather", instructions=INSTRUCTIONS, model="gpt-5-mini", tools=[function_tool(get_weather)])
        return OpenAiAgentsStream(agent) if STREAM else agent

    return make


def adk(model):
    def make():
        import evalset
        from google.adk.agents import Agent
        from google.adk.agents.run_config import RunConfig, StreamingMode

        chosen = model
        if model.startswith("claude"):
            from google.adk.models.anthropic_llm import AnthropicLlm

            chosen = AnthropicLlm(model=model)
        elif "/" in model:
            from google.adk.models.lite_llm import LiteLlm

            chosen = LiteLlm(model=model)
        agent = Agent(name="weather", model=chosen, instruction=INSTRUCTIONS, tools=[get_weather])
        return evalset.with_options(agent, run_config=RunConfig(streaming_mode=StreamingMode.SSE)) if STREAM else agent

    return make


def langchain(model):
    def make():
        from langchain.agents import create_agent

        if model.startswith("gpt"):
            from langchain_openai import ChatOpenAI as Chat
        elif model.startswith("claude"):
            from langchain_anthropic import ChatAnthropic as Chat
        else:
            from langchain_google_genai import ChatGoogleGenerativeAI as Chat
        return create_agent(Chat(model=model, streaming=STREAM), tools=[get_weather], system_prompt=INSTRUCTIONS)

    return make


class Swallows:
    """An agent that hides every error of its model."""

    def __init__(self, inner):
        self.inner = inner

    async def __call__(self, message, turn):
        try:
            return await self.inner(message, turn)
        except Exception:
            return "It is sunny."


AGENTS = {
    "openai-chat": OpenAiChat,
    "openai-responses": OpenAiResponses,
    "anthropic": Anthropic,
    "gemini": Gemini,
    "pydantic-chat": pydantic_ai("openai-chat:gpt-5-mini"),
    "pydantic-responses": pydantic_ai("openai-responses:gpt-5-mini"),
    "pydantic-anthropic": pydantic_ai("anthropic:claude-sonnet-4-5"),
    "pydantic-google": pydantic_ai("google:gemini-2.5-flash"),
    "agents-responses": openai_agents("responses"),
    "agents-chat": openai_agents("chat_completions"),
    "adk-gemini": adk("gemini-2.5-flash"),
    "adk-litellm": adk("openai/gpt-5-mini"),
    "adk-litellm-gemini": adk("gemini/gemini-2.5-flash"),
    "adk-claude": adk("claude-sonnet-4-5"),
    "langchain-openai": langchain("gpt-5-mini"),
    "langchain-anthropic": langchain("claude-sonnet-4-5"),
    "langchain-google": langchain("gemini-2.5-flash"),
}
# For tests of their own.
OTHERS = {"gather": Gather}


def main():
    import evalset

    agent = {**AGENTS, **OTHERS}[sys.argv[1]]()
    # Agents of frameworks are served as they are.
    if type(agent).__module__ != __name__:
        return evalset.serve(agent)
    asked = Swallows(agent) if SWALLOW else agent

    async def answer(message, turn):
        return await asked(message, turn)

    evalset.serve(answer)


if __name__ == "__main__":
    main()
