"""Messages of LangChain as events."""

from __future__ import annotations

import importlib
import json
from typing import Any

from .._json import as_text, plain
from .._parts import call_part, result_part, tokens
from ..turn import Turn
from ._calls import Calls
from ._message import has_base


class Seen:
    """The messages of a turn, each recorded once, though a graph shows some of them several times.

    `earlier` has the messages of the turns before, and `message` is the user's.
    """

    def __init__(self, turn: Turn, earlier: list[Any], message: Any) -> None:
        self._turn = turn
        self._earlier = _read(earlier)
        self._told = [one.content for one in [*self._earlier, *_read([message])] if one.type == "human"]
        self._seen: list[Any] = list(earlier)
        # Messages that nodes returned as pairs or dictionaries: the graph makes messages of them, with ids, later.
        self._unnamed: list[Any] = []
        self.calls = Calls(turn)

    def state(self, messages: list[Any]) -> None:
        """Records what no node has shown of the messages in the state at the end."""
        for message in self._new(_read(messages)):
            like = [one for one in self._unnamed if one is not message and _is_alike(one, message)]
            if like and not self._is_seen(message):
                self._unnamed.remove(like[0])
                self._seen.append(message)
            else:
                self.messages(message)

    def end(self, messages: list[Any]) -> None:
        """Records the answer, if it is the result of a tool (`return_direct`): the last of all messages."""
        last = self._new(_read(messages))[-1:]
        if last and last[0].type == "tool":
            self._turn.say("\n".join(part["text"] for part in _parts_of(last[0]) if "text" in part))

    def update(self, update: Any, author: str | None) -> None:
        """Records what a node of a graph returned. `author` says the messages without a name."""
        for one in update if isinstance(update, list) else [update]:
            values = getattr(one, "update", None) if has_base(one, "langgraph", {"Command"}) else one
            if isinstance(values, dict) and not values.keys().isdisjoint({"messages", "structured_response"}):
                self.messages(values.get("messages"), values.get("structured_response"), author)

    def messages(self, messages: Any, structured: Any = None, author: str | None = None) -> None:
        """Records messages. With a structured answer, the call by which the model put it out is no call of a tool."""
        # A node can wrap what it returns, to replace all messages.
        value = getattr(messages, "value", messages)
        new = _read([one for one in (value if isinstance(value, list) else [value]) if one is not None])
        # With the user's words it is all of the state. Otherwise a message is new, though it may be like one of an earlier turn.
        if any(message.type == "human" and message.content in self._told for message in new):
            new = self._new(new)
        answered = {getattr(message, "tool_call_id", None) for message in new} if structured is not None else set()
        for message in new:
            if self._is_seen(message):
                continue
            self._seen.append(message)
            if message.id is None:
                self._unnamed.append(message)
            if message.type == "ai":
                self._answer(message, answered, message.name or author)
            elif message.type == "tool" and message.tool_call_id not in answered:
                self._result(message)
        if structured is not None:
            self._turn.say(as_text(structured))

    def _new(self, messages: list[Any]) -> list[Any]:
        """The messages of a state that are not of earlier turns. Those without ids are known by what they say, in order."""
        earlier, new = list(self._earlier), []
        for message in messages:
            at = next((at for at, one in enumerate(earlier) if _is_same(one, message) or _is_alike(one, message)), None)
            if at is not None:
                del earlier[at]
                continue
            new.append(message)
            # What comes after the user's words is of this turn.
            if message.type == "human" and message.content == self._told[-1]:
                earlier.clear()
        return new

    def _is_seen(self, message: Any) -> bool:
        return any(_is_same(seen, message) for seen in self._seen)

    def _answer(self, message: Any, answered: set[Any], author: str | None) -> None:
        self.calls.flush()
        parts = _parts_of(message)
        for call in [*message.tool_calls, *message.invalid_tool_calls]:
            id = call.get("id")
            if id is None or id not in answered:
                parts.append(call_part(id, call["name"], call["args"]))
            if id is not None and id not in answered:
                self.calls.ask(id, call["name"], author)
        usage = message.usage_metadata or {}
        counted = tokens(
            usage.get("input_tokens"),
            usage.get("output_tokens"),
            thoughts=(usage.get("output_token_details") or {}).get("reasoning"),
            cached=(usage.get("input_token_details") or {}).get("cache_read"),
        )
        model = message.response_metadata.get("model_name")
        self._turn.model(parts, author=author, usage=counted, model=model if isinstance(model, str) else None)

    def _result(self, message: Any) -> None:
        result = _value(message.content)
        if message.status == "error":
            result = {"error": result}
        if self.calls.has(message.tool_call_id):
            self.calls.answer(message.tool_call_id, result)
        else:
            self._turn.results([result_part(message.tool_call_id, message.name or "tool", result)])


def _is_same(one: Any, message: Any) -> bool:
    return message is one or (message.id is not None and message.id == getattr(one, "id", None))


def _is_alike(one: Any, other: Any) -> bool:
    keys = ("type", "content", "tool_calls", "tool_call_id")
    return one.id is None and all(getattr(one, key, None) == getattr(other, key, None) for key in keys)


def _read(messages: list[Any]) -> list[Any]:
    """Messages as objects; nodes may return pairs, dictionaries and texts."""
    kinds = importlib.import_module("langchain_core.messages")
    removed: Any = kinds.RemoveMessage
    return list(kinds.convert_to_messages([one for one in messages if not isinstance(one, removed)]))


def _parts_of(message: Any) -> list[dict[str, Any]]:
    if isinstance(message.content, str):
        return [{"text": message.content}] if message.content else []
    parts: list[dict[str, Any]] = []
    for block in getattr(message, "content_blocks", message.content):
        block = {"type": "text", "text": block} if isinstance(block, str) else plain(block)
        kind = block.get("type")
        if kind == "text" and block.get("text"):
            parts.append({"text": block["text"]})
        elif kind in ("reasoning", "thinking") and block.get(kind):
            parts.append({"text": block[kind], "thought": True})
        elif kind == "server_tool_call":
            parts.append(call_part(block.get("id"), block["name"], block.get("args")))
        elif kind == "server_tool_result":
            failed = block.get("status") == "error"
            output = block.get("output")
            parts.append(result_part(block.get("tool_call_id"), "server_tool", {"error": output} if failed else output))
        elif kind in ("image", "audio", "video", "file") and block.get("base64"):
            parts.append({"inlineData": {"mimeType": block.get("mime_type"), "data": block["base64"]}})
    return parts


def _value(content: Any) -> Any:
    """The result of a tool. LangChain writes what a tool returns as JSON."""
    if isinstance(content, str) and content[:1] in ("{", "["):
        try:
            return json.loads(content)
        except ValueError:
            return content
    return content
