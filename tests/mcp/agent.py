"""An agent of a framework whose tools are an MCP server, as a program of the protocol: `agent.py FRAMEWORK HOW`.

HOW is http, or stdio: the client then starts `cargo-evalset mcp --connect`, which BINARY names. The scripted model makes the
calls of CALLS, whatever they answer. What the model was told of each goes to the file ANSWERS.
"""

import asyncio
import json
import logging
import os
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

FRAMEWORK, HOW = sys.argv[1:3]
CALLS = json.loads(os.environ["CALLS"])
# Frameworks print what they like.
OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def write(**message):
    print(json.dumps(message), file=OUT, flush=True)


def server(url):
    """The command of a server over stdio."""
    return {"command": os.environ["BINARY"], "args": ["mcp", "--connect", url]}


async def google_adk(url):
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.mcp_tool.mcp_session_manager import StdioConnectionParams, StreamableHTTPConnectionParams
    from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
    from google.genai import types
    from mcp import StdioServerParameters

    class Scripted(BaseLlm):
        model: str = "scripted"

        async def generate_content_async(self, request, stream=False):
            done = sum(1 for content in request.contents for part in content.parts if part.function_response)
            if done < len(CALLS):
                name, args = CALLS[done]
                part = types.Part(function_call=types.FunctionCall(name=name, args=args))
            else:
                part = types.Part(text="Shipped.")
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    if HOW == "http":
        params = StreamableHTTPConnectionParams(url=url)
    else:
        params = StdioConnectionParams(server_params=StdioServerParameters(**server(url)))
    tools = McpToolset(connection_params=params)
    runner = InMemoryRunner(agent=LlmAgent(name="desk", model=Scripted(), tools=[tools]), app_name="desk")
    session = await runner.session_service.create_session(app_name="desk", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text="go")])
    answers = []
    async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        answers += [response.response for response in event.get_function_responses()]
    await tools.close()
    return answers


async def openai_agents(url):
    from agents import Agent, Model, ModelResponse, Runner, set_tracing_disabled
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
    from agents.usage import Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    set_tracing_disabled(True)
    answers = []

    class Scripted(Model):
        async def get_response(self, system_instructions, input, *others, **more):
            done = [item for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
            answers[:] = [item["output"] for item in done]
            if len(done) < len(CALLS):
                name, args = CALLS[len(done)]
                item = ResponseFunctionToolCall(
                    type="function_call", name=name, arguments=json.dumps(args), call_id=f"c{len(done)}"
                )
            else:
                text = ResponseOutputText(type="output_text", text="Shipped.", annotations=[])
                item = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
            return ModelResponse(output=[item], usage=Usage(), response_id=None)

        def stream_response(self, *others, **more):
            raise NotImplementedError

    made = MCPServerStreamableHttp(params={"url": url}) if HOW == "http" else MCPServerStdio(params=server(url))
    async with made as tools:
        agent = Agent(name="desk", model=Scripted(), mcp_servers=[tools])
        await Runner.run(agent, "go")
    return answers


async def pydantic_ai(url):
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    def told(messages):
        parts = [part for message in messages for part in message.parts]
        return [part for part in parts if isinstance(part, (ToolReturnPart, RetryPromptPart))]

    def model(messages, info):
        done = told(messages)
        return ModelResponse(
            parts=[ToolCallPart(*CALLS[len(done)])] if len(done) < len(CALLS) else [TextPart("Shipped.")]
        )

    command = server(url)
    tools = MCPToolset(url) if HOW == "http" else MCPToolset(StdioTransport(command["command"], command["args"]))
    agent = Agent(FunctionModel(model), toolsets=[tools], retries=3)
    async with agent:
        result = await agent.run("go")
    return [part.content for part in told(result.all_messages())]


write(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        address = message["mcp"]
        write(type="started", tools="mcp")
    elif message["type"] == "turn":
        answers = asyncio.run(globals()[FRAMEWORK](address))
        with open(os.environ["ANSWERS"], "w") as file:
            json.dump(answers, file, default=str)
        for (name, args), answer in zip(CALLS, answers, strict=True):
            write(type="tool_call", name=name, args=args, result=answer)
        write(type="text", text="Shipped.")
        write(type="turn_end")
