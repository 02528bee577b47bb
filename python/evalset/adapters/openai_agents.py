"""Agents of the OpenAI Agents SDK."""

from __future__ import annotations

import copy
import importlib
import sys
from typing import TYPE_CHECKING, Any

from .._conversation import Agent
from .._errors import AgentError
from .._golden import ToolFailed, current, value
from .._json import arguments, as_text, is_same_json, plain
from .._parts import call_part, result_part, tokens
from ..turn import Session, Turn
from ._calls import Calls
from ._message import File, has_base, parts_of

if TYPE_CHECKING:
    from . import Host

NAME = "openai-agents"
STATE = (
    "agents of openai-agents have no place for it; hand it over in `context`: "
    'evalset.with_options(agent, lambda session: {"context": Context(**session.state)})'
)
TAKEN = frozenset({"starting_agent", "input", "hooks"})
# What the SDK tells a model about a tool that raised.
FAILURE = "An error occurred while running the tool"


def matches(agent: Any) -> bool:
    # Other packages may be called `agents` too.
    return has_base(agent, "agents", {"Agent", "AgentBase"}) and hasattr(sys.modules.get("agents"), "RunHooks")


def lacks_state(agent: Any) -> str | None:
    return STATE


async def open(agent: Any, options: dict[str, Any], session: Session, host: Host) -> Agent:
    if session.golden is not None:
        _ask_for_tools()
    return Conversation(agent, options)


# Tools that run at the provider of the model. What is no function and is not listed may run on this machine.
HOSTED = {
    "FileSearchTool",
    "WebSearchTool",
    "HostedMCPTool",
    "CodeInterpreterTool",
    "ImageGenerationTool",
    "ToolSearchTool",
    "ProgrammaticToolCallingTool",
}


def _ask_for_tools() -> None:
    """Has the tools of all agents ask for their answers, in conversations with golden tools. Agents as tools run."""
    base: Any = importlib.import_module("agents.agent").AgentBase
    original = base.get_all_tools
    if getattr(original, "asks", False):
        return

    async def get_all_tools(self: Any, run_context: Any) -> list[Any]:
        tools: list[Any] = await original(self, run_context)
        golden = current(f"of {self.name}")
        if golden is None:
            return tools
        golden.knows(*(tool.name for tool in tools))
        return [_asking(tool) for tool in tools]

    get_all_tools.asks = True  # type: ignore[attr-defined]
    base.get_all_tools = get_all_tools


def _asking(tool: Any) -> Any:
    is_function = has_base(tool, "agents", {"FunctionTool"})
    if has_base(tool, "agents", HOSTED) or (is_function and getattr(tool, "_is_agent_tool", False)):
        return tool
    if not is_function:
        raise AgentError(f"`{type(tool).__name__}` cannot ask for golden answers, and may run on this machine")
    # A copy keeps the guardrails and the approval of the tool.
    asking = copy.copy(tool)

    async def on_invoke_tool(context: Any, text: str) -> Any:
        golden = current(tool.name)
        if golden is None:
            raise AgentError(f"the tool `{tool.name}` was called in no conversation")
        golden.reached(getattr(context, "tool_call_id", None))
        try:
            return as_text(value(await golden.asked(tool.name, arguments(text))))
        except ToolFailed as error:
            # What the SDK tells the model about a function that raised.
            return f"{FAILURE}. Please try again. Error: {error}"

    asking.on_invoke_tool = on_invoke_tool
    return asking


class Conversation:
    """A conversation. It continues with the agent that spoke last, as handoffs do."""

    asks_golden_tools = True

    def __init__(self, agent: Any, options: dict[str, Any]) -> None:
        self._sdk: Any = importlib.import_module("agents")
        self._agent = agent
        self._options = options
        self._history: list[Any] = []
        self.details = {"agents": _details(agent, {})}

    async def turn(self, turn: Turn) -> None:
        message = {"role": "user", "content": _content(parts_of(turn.content))}
        record = _Record(turn)
        hooks = _hooks(self._sdk.RunHooks, record)
        try:
            # With a session of the SDK, or the provider's, the history is there.
            has_history = {"session", "conversation_id", "previous_response_id"} & self._options.keys()
            sent = [message] if has_history else [*self._history, message]
            result = await self._sdk.Runner.run(self._agent, sent, hooks=hooks, **self._options)
        except self._sdk.AgentsException as error:
            record.items(getattr(error.run_data, "new_items", []))
            raise
        finally:
            record.calls.flush()
        record.items(result.new_items)
        if getattr(result, "interruptions", None):
            raise AgentError("the agent waits for the approval of a tool, which no message of a case gives")
        self._history = result.to_input_list()
        self._agent = result.last_agent
        output = result.final_output
        if turn.answer is None or (as_text(output) != turn.answer and not is_same_json(turn.answer, output)):
            turn.text(as_text(output), author=self._agent.name)

    async def close(self) -> None:
        pass


class _Record:
    """What happens in a run, recorded when it happens."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._golden = turn.session.golden
        # The tools of the calls, by their ids, until they have a result.
        self._names: dict[str, str] = {}
        self.calls = Calls(turn)

    def response(self, agent: Any, response: Any) -> None:
        self.calls.flush()
        parts = [part for item in response.output for part in self._parts(agent.name, item)]
        usage = response.usage
        counted = tokens(
            usage.input_tokens,
            usage.output_tokens,
            thoughts=getattr(usage.output_tokens_details, "reasoning_tokens", None),
            cached=getattr(usage.input_tokens_details, "cached_tokens", None),
        )
        model = agent.model if isinstance(agent.model, str) else getattr(agent.model, "model", None)
        is_known = counted is not None and counted["totalTokenCount"] > 0
        self._turn.model(
            parts, author=agent.name, usage=counted if is_known else None, model=model if isinstance(model, str) else None
        )

    def result(self, id: str | None, output: Any) -> None:
        name = self._names.pop(str(id), None)
        if self._golden is not None and name is not None:
            self._golden.settled(id, name)
        is_failure = isinstance(output, str) and output.startswith(FAILURE)
        self.calls.answer(id, {"error": output} if is_failure else output)

    def handoff(self, agent: Any) -> None:
        # The tools of the response have ended, so the first call that is left is the handoff.
        id = self.calls.first()
        name = self._names.pop(str(id), None)
        if self._golden is not None and name is not None:
            self._golden.own_call(name)
        self.calls.answer(id, {"assistant": agent.name})

    def items(self, items: list[Any]) -> None:
        """Records the results that no hook told, such as the results of handoffs."""
        for item in items:
            raw = plain(item.raw_item)
            if isinstance(raw, dict) and str(raw.get("type", "")).endswith("_output"):
                self.result(raw.get("call_id"), getattr(item, "output", raw.get("output")))

    def _run_by_provider(self, name: str) -> None:
        if self._golden is not None:
            self._golden.own_call(name)

    def _parts(self, author: str, item: Any) -> list[dict[str, Any]]:
        raw: dict[str, Any] = plain(item)
        kind = str(raw.get("type"))
        if kind == "message":
            texts = [one.get("text") or one.get("refusal") or "" for one in raw["content"]]
            return [{"text": "".join(texts)}] if any(texts) else []
        if kind == "reasoning":
            texts = [one.get("text") or "" for one in [*(raw.get("summary") or []), *(raw.get("content") or [])]]
            return [{"text": "\n".join(texts), "thought": True}] if any(texts) else []
        if kind in ("function_call", "custom_tool_call"):
            self.calls.ask(raw["call_id"], raw["name"], author)
            self._names[raw["call_id"]] = raw["name"]
            args = raw["arguments"] if kind == "function_call" else {"input": raw["input"]}
            return [call_part(raw["call_id"], raw["name"], args)]
        if kind == "mcp_call":
            result = {"error": raw["error"]} if raw.get("error") else raw.get("output")
            self._run_by_provider(raw["name"])
            return [call_part(raw["id"], raw["name"], raw["arguments"]), result_part(raw["id"], raw["name"], result)]
        if kind.endswith("_call"):
            id, name = raw.get("call_id") or raw.get("id"), kind.removesuffix("_call")
            if raw.get("call_id"):
                self.calls.ask(raw["call_id"], name, author)
            self._run_by_provider(name)
            hidden = ("id", "call_id", "type", "status")
            return [call_part(id, name, arguments({key: value for key, value in raw.items() if key not in hidden}))]
        return []


def _hooks(base: Any, record: _Record) -> Any:
    class Hooks(base):  # type: ignore[misc]
        async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
            record.response(agent, response)

        async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
            record.result(getattr(context, "tool_call_id", None), result)

        async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
            record.handoff(to_agent)

    return Hooks()


def _details(agent: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Instructions and tools of an agent, and of those that it can hand over to. Instructions that are made while it runs are
    not known."""
    if agent.name not in known:
        known[agent.name] = {
            "instruction": agent.instructions if isinstance(agent.instructions, str) else "",
            "tools": [_declaration(tool) for tool in agent.tools],
        }
        for other in agent.handoffs:
            if hasattr(other, "handoffs"):
                _details(other, known)
    return known


def _declaration(tool: Any) -> dict[str, Any]:
    described = {
        "name": tool.name,
        "description": getattr(tool, "description", None),
        "parameters": plain(getattr(tool, "params_json_schema", None)),
    }
    return {"functionDeclarations": [{key: value for key, value in described.items() if value}]}


def _content(parts: list[str | File]) -> Any:
    if all(isinstance(part, str) for part in parts):
        return "\n".join(map(str, parts))
    return [_input(part) for part in parts]


def _input(part: str | File) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    if part.family == "image":
        return {"type": "input_image", "image_url": part.url, "detail": "auto"}
    if part.family in ("audio", "video"):
        raise AgentError(f"the user's message has a file of the type {part.mime_type}, which openai-agents does not take")
    return {"type": "input_file", "file_data": part.url, "filename": "file"}
