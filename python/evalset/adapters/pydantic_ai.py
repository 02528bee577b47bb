"""Agents of pydantic-ai."""

from __future__ import annotations

import base64
import importlib
from typing import TYPE_CHECKING, Any

from .._conversation import Agent
from .._errors import AgentError
from .._golden import current, value
from .._json import as_text, is_same_json, plain
from .._parts import call_part, result_part, tokens
from ..turn import Session, Turn
from ._message import File, has_base, parts_of

if TYPE_CHECKING:
    from . import Host

NAME = "pydantic-ai"
STATE = (
    "agents of pydantic-ai have no place for it; hand it over in `deps`: "
    'evalset.with_options(agent, lambda session: {"deps": Deps(**session.state)})'
)
TAKEN = frozenset({"user_prompt", "message_history"})


def matches(agent: Any) -> bool:
    return has_base(agent, "pydantic_ai", {"AbstractAgent", "Agent"})


def lacks_state(agent: Any) -> str | None:
    return STATE


async def open(agent: Any, options: dict[str, Any], session: Session, host: Host) -> Agent:
    return Conversation(agent, options)


class Conversation:
    """A conversation, with the history that each run of the agent continues."""

    asks_golden_tools = True

    def __init__(self, agent: Any, options: dict[str, Any]) -> None:
        self._agent = agent
        self._options = options
        self._history: list[Any] = []

    async def turn(self, turn: Turn) -> None:
        if turn.session.golden is None:
            return await self._run(turn, self._options)
        toolset = _golden_toolset()
        options = dict(self._options)
        if options.get("toolsets"):
            options["toolsets"] = [toolset(one) for one in options["toolsets"]]
        # Tools and toolsets of the agent are replaced together, so that none is left that runs.
        with self._agent.override(tools=[], toolsets=[toolset(one) for one in self._agent.toolsets]):
            await self._run(turn, options)

    async def _run(self, turn: Turn, options: dict[str, Any]) -> None:
        prompt = _prompt(parts_of(turn.content))
        async with self._agent.iter(prompt, message_history=self._history or None, **options) as run:
            seen = _Seen(turn, run, self._agent.name, len(self._history))
            node = run.next_node
            while type(node).__name__ != "End" and run.result is None:
                # The results of tools are in the next request, before the model is asked.
                seen.message(getattr(node, "request", None))
                node = await run.next(node)
                seen.messages()
            result = run.result
        seen.messages()
        if type(result.output).__name__ == "DeferredToolRequests":
            raise AgentError(
                "the agent waits for results or approvals of tools (`DeferredToolRequests`), which no message of a case gives"
            )
        self._history = result.all_messages()
        # An output of the model's own text was recorded with it.
        if turn.answer is None or (as_text(result.output) != turn.answer and not is_same_json(turn.answer, result.output)):
            turn.text(as_text(result.output), author=self._agent.name)

    async def close(self) -> None:
        pass


class _Seen:
    """The messages of a run, each recorded once."""

    def __init__(self, turn: Turn, run: Any, author: str | None, earlier: int) -> None:
        self._turn, self._run, self._author, self._earlier = turn, run, author, earlier
        # The objects themselves, so that none of their ids is used again.
        self._responses: list[Any] = []
        self._answered: set[str] = set()
        self._outputs: set[str] = set()

    def messages(self) -> None:
        new = getattr(self._run, "new_messages", None)
        # Older versions have the whole history alone.
        for message in new() if new is not None else self._run.ctx.state.message_history[self._earlier :]:
            self.message(message)

    def message(self, message: Any) -> None:
        if getattr(message, "kind", None) == "response":
            if not any(message is seen for seen in self._responses):
                self._responses.append(message)
                self._response(message)
        elif getattr(message, "kind", None) == "request":
            results = [part for part in message.parts if self._is_new_result(part)]
            self._answered.update(part.tool_call_id for part in results)
            if self._turn.session.golden is not None:
                for part in results:
                    self._turn.session.golden.settled(part.tool_call_id, part.tool_name)
            if results:
                parts = [result_part(part.tool_call_id, part.tool_name, _result(part)) for part in results]
                self._turn.results(parts, author=self._author)

    def _is_new_result(self, part: Any) -> bool:
        if part.part_kind not in ("tool-return", "retry-prompt") or not part.tool_name:
            return False
        return part.tool_call_id not in self._answered | self._outputs

    def _response(self, message: Any) -> None:
        parts = [part for one in message.parts for part in self._parts(one)]
        usage = message.usage
        details = getattr(usage, "details", None) or {}
        counted = tokens(
            usage.input_tokens,
            usage.output_tokens,
            thoughts=details.get("reasoning_tokens"),
            cached=getattr(usage, "cache_read_tokens", None),
        )
        self._turn.model(parts, author=self._author, usage=counted, model=message.model_name)

    def _parts(self, part: Any) -> list[dict[str, Any]]:
        kind: str = part.part_kind
        if kind in ("text", "speech"):
            return [{"text": part.content}] if part.content else []
        if kind == "thinking":
            return [{"text": part.content, "thought": True}] if part.content else []
        if kind == "file":
            data = base64.b64encode(part.content.data).decode()
            return [{"inlineData": {"mimeType": part.content.media_type, "data": data}}]
        if kind == "tool-call":
            if self._is_output(part.tool_name):
                # How the model puts out an answer with fields: no call of a tool.
                self._outputs.add(part.tool_call_id)
                return []
            return [call_part(part.tool_call_id, part.tool_name, part.args)]
        if kind.endswith("-tool-call"):
            if self._turn.session.golden is not None:
                # The provider of the model runs it.
                self._turn.session.golden.own_call(part.tool_name)
            return [call_part(part.tool_call_id, part.tool_name, part.args)]
        if kind.endswith("-tool-return"):
            return [result_part(part.tool_call_id, part.tool_name, _result(part))]
        if kind == "compaction":
            return []
        raise AgentError(f"the model put out a part of the kind `{kind}`, which this version of evalset does not read")

    def _is_output(self, name: str) -> bool:
        manager = getattr(self._run.ctx.deps, "tool_manager", None)
        definition = manager.get_tool_def(name) if manager is not None else None
        if definition is not None:
            return bool(definition.kind == "output")
        return name == "final_result" or name.startswith("final_result_")


def _golden_toolset() -> Any:
    """The class of toolsets whose tools ask for their answers. The arguments are those that the model passed."""
    wrapper: Any = importlib.import_module("pydantic_ai.toolsets").WrapperToolset

    class GoldenToolset(wrapper):  # type: ignore[misc]
        async def get_tools(self, ctx: Any) -> dict[str, Any]:
            tools: dict[str, Any] = await super().get_tools(ctx)
            if (golden := current(", ".join(tools))) is not None:
                golden.knows(*tools)
            return tools

        async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
            golden = current(name)
            if golden is None:
                raise AgentError(f"the tool `{name}` was called in no conversation")
            golden.reached(ctx.tool_call_id)
            return value(await golden.asked(name, tool_args))

    return GoldenToolset


def _result(part: Any) -> Any:
    """The result of a tool; one that failed, was denied, or has to be called again is an error."""
    if part.part_kind == "retry-prompt" or getattr(part, "outcome", "success") != "success":
        return {"error": plain(part.content)}
    return part.content


def _prompt(parts: list[str | File]) -> Any:
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts):
        return "\n".join(texts)
    binary: Any = importlib.import_module("pydantic_ai").BinaryContent
    return [
        part if isinstance(part, str) else binary(data=base64.b64decode(part.data), media_type=part.mime_type) for part in parts
    ]
