"""Graphs of LangGraph, agents of LangChain, and what else takes `{"messages": ..}`."""

from __future__ import annotations

import importlib
import uuid
from typing import TYPE_CHECKING, Any

from .._conversation import Agent
from .._errors import AgentError
from .._golden import Golden, current, value
from .._json import as_text
from .._worker import Worker
from ..turn import Session, Turn
from ._langchain_messages import Seen
from ._message import File, has_base, parts_of

if TYPE_CHECKING:
    from . import Host

NAME = "LangChain"
STATE = (
    "a runnable that is no graph has no place for it; hand it over in `config`: "
    'evalset.with_options(agent, lambda session: {"config": {"configurable": session.state}})'
)
TAKEN = frozenset({"input", "stream_mode", "subgraphs"})


def matches(agent: Any) -> bool:
    if has_base(agent, "langchain_core", {"Runnable"}):
        return True
    return not has_base(agent, "google.adk", {"BaseNode"}) and any(
        callable(getattr(agent, name, None)) for name in ("ainvoke", "invoke")
    )


def lacks_state(agent: Any) -> str | None:
    return None if has_base(agent, "langgraph", {"Pregel"}) else STATE


async def open(agent: Any, options: dict[str, Any], session: Session, host: Host) -> Agent:
    if session.golden is not None:
        _ask_for_tools()
    if has_base(agent, "langgraph", {"Pregel"}):
        return Graph(agent, options, session)
    return Runnable(agent, options)


def _ask_for_tools() -> None:
    """Has all tools of LangChain ask for their answers, in conversations with golden tools. Handoffs run."""
    module: Any = importlib.import_module("langchain_core.tools.base")
    base: Any = module.BaseTool
    run, arun = base.run, base.arun
    if getattr(run, "asks", False):
        return

    def asking(tool: Any) -> Golden | None:
        golden = current(tool.name)
        # The key of `langgraph_supervisor` and `langgraph_swarm`. Any tool may say more of itself.
        if golden is not None and "__handoff_destination" in (tool.metadata or {}):
            golden.own_call(tool.name)
            return None
        return golden

    def given(tool: Any, tool_input: Any) -> dict[str, Any]:
        if isinstance(tool_input, dict):
            return dict(tool._filter_injected_args(tool_input))
        return {next(iter(tool.args), "input"): tool_input}

    def output(tool: Any, answer: Any, options: dict[str, Any]) -> Any:
        content = value(answer)
        return module._format_output(content, None, options.get("tool_call_id"), tool.name, "success")

    def asked_run(self: Any, tool_input: Any, *rest: Any, **options: Any) -> Any:
        golden = asking(self)
        if golden is None:
            return run(self, tool_input, *rest, **options)
        return output(self, golden.ask(self.name, given(self, tool_input)), options)

    async def asked_arun(self: Any, tool_input: Any, *rest: Any, **options: Any) -> Any:
        golden = asking(self)
        if golden is None:
            return await arun(self, tool_input, *rest, **options)
        return output(self, await golden.asked(self.name, given(self, tool_input)), options)

    asked_run.asks = True  # type: ignore[attr-defined]
    base.run, base.arun = asked_run, asked_arun


class Graph:
    """A conversation with a compiled graph. The state of the session is the state of the graph, apart from its messages."""

    asks_golden_tools = True

    def __init__(self, graph: Any, options: dict[str, Any], session: Session) -> None:
        self._graph = graph
        self._session = session
        # A thread of the checkpointer that no earlier run has used.
        config = options.get("config") or {}
        thread = {"thread_id": str(uuid.uuid4()), **(config.get("configurable") or {})}
        self._options = {**options, "config": {**config, "configurable": thread}}
        self._remembers = bool(getattr(graph, "checkpointer", None))
        # Not even the id of the session is of one conversation: the runs of a case share it.
        if self._remembers and "thread_id" in (config.get("configurable") or {}):
            raise AgentError(
                f"conversations would share the thread `{thread['thread_id']}` of the checkpointer, and an earlier answer could pass; "
                "leave `thread_id` out of `with_options`: each has a thread of its own"
            )
        self._values = {key: value for key, value in session.state.items() if key in graph.channels}
        self._beside = {key: value for key, value in session.state.items() if key not in graph.channels}
        self._messages: list[Any] = []
        self._is_new = True
        # Options of the session can hand it over.
        if self._beside and not options.keys() & {"config", "context"}:
            unknown = next(iter(self._beside))
            raise AgentError(f"the case begins with state `{unknown}`, and the graph has no key of that name in its state")

    async def turn(self, turn: Turn) -> None:
        message = {"role": "user", "content": _content(parts_of(turn.content))}
        if self._remembers and not self._is_new:
            given: dict[str, Any] = {"messages": [message]}
        else:
            given = {**self._values, "messages": [*self._messages, message]}
        self._is_new = False
        seen = Seen(turn, self._messages, message)
        is_structured = False
        values: dict[str, Any] = {}
        stream = self._graph.astream(given, stream_mode=["updates", "values"], subgraphs=True, **self._options)
        try:
            async for namespace, mode, chunk in stream:
                if mode == "updates":
                    for node, update in chunk.items():
                        if node == "__interrupt__":
                            raise AgentError(
                                "the graph was interrupted and waits to be resumed, which no message of a case does"
                            )
                        seen.update(update, self._author(namespace))
                        is_structured |= not namespace and isinstance(update, dict) and "structured_response" in update
                elif not namespace:
                    values = chunk
        finally:
            seen.calls.flush()
        if "messages" not in values:
            raise AgentError(f"the state of the graph has no `messages`: it has {', '.join(values) or 'nothing'}")
        seen.state(values["messages"])
        seen.calls.check()
        self._messages = list(values["messages"])
        self._values = {key: value for key, value in values.items() if key != "messages"}
        # One of an earlier turn stays in the state.
        answer = self._values.pop("structured_response", None) if is_structured else None
        self._session.state = {**self._beside, **self._values}
        if answer is None:
            seen.end(self._messages)
        else:
            turn.say(as_text(answer))

    def _author(self, namespace: tuple[str, ...]) -> str | None:
        """The agent of a message without a name: the node that is a graph itself, or the graph."""
        if namespace:
            return namespace[-1].partition(":")[0]
        name = getattr(self._graph, "name", None)
        return name if name != "LangGraph" else None

    async def close(self) -> None:
        pass


class Runnable:
    """A conversation with anything that is invoked with messages, and returns a state, a message or a text."""

    asks_golden_tools = True

    def __init__(self, runnable: Any, options: dict[str, Any]) -> None:
        self._runnable, self._options = runnable, options
        self._messages: list[Any] = []
        self._worker: Worker | None = None

    async def turn(self, turn: Turn) -> None:
        message = {"role": "user", "content": _content(parts_of(turn.content))}
        seen = Seen(turn, self._messages, message)
        given = {"messages": [*self._messages, message]}
        if callable(getattr(self._runnable, "ainvoke", None)):
            result = await self._runnable.ainvoke(given, **self._options)
        else:
            self._worker = self._worker or Worker()
            result = await self._worker.run(lambda: self._runnable.invoke(given, **self._options))
        if isinstance(result, dict) and "messages" in result:
            self._messages = _read(result["messages"])
            seen.messages(self._messages)
            seen.calls.check()
            if result.get("structured_response") is None:
                seen.end(self._messages)
        elif has_base(result, "langchain_core", {"BaseMessage"}):
            self._messages = [*given["messages"], result]
            seen.messages([result])
        else:
            turn.say(result)
            self._messages = [*given["messages"], {"role": "assistant", "content": as_text(result)}]

    async def close(self) -> None:
        if self._worker is not None:
            self._worker.close()


def _read(messages: Any) -> list[Any]:
    return list(importlib.import_module("langchain_core.messages").convert_to_messages(messages))


def _content(parts: list[str | File]) -> Any:
    if all(isinstance(part, str) for part in parts):
        return "\n".join(map(str, parts))
    return [_block(part) for part in parts]


def _block(part: str | File) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = part.family if part.family in ("image", "audio", "video") else "file"
    return {"type": kind, "base64": part.data, "mime_type": part.mime_type}
