"""Golden tools: the other side answers the calls of a conversation's tools, and no tool runs."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import inspect
import itertools
import threading
import typing
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from ._errors import AgentError
from ._json import plain

_CURRENT: contextvars.ContextVar[Golden | None] = contextvars.ContextVar("golden", default=None)
# Of the conversations in progress.
_OPEN: list[Golden] = []


class ToolFailed(Exception):
    """The failure of a tool that does not run: the case says that it fails, or has no answer."""


class Golden:
    """The golden tools of a conversation: questions to the other side, and its answers, in any order and from any thread."""

    def __init__(self, write: Callable[[dict[str, Any]], None], change: Callable[[dict[str, Any]], None]) -> None:
        self._write = write
        # Takes changes of the state, which the other side knows already.
        self._change = change
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._waiting: dict[str, tuple[Future[Any], dict[str, Any] | None]] = {}

    def open(self) -> None:
        """Makes these the tools of the caller's context, until `close`."""
        _CURRENT.set(self)
        _OPEN.append(self)

    def close(self) -> None:
        _OPEN.remove(self)

    def ask(self, name: str, args: Mapping[str, Any]) -> Any:
        """What a tool answers. Blocks its thread."""
        return self._ask(name, args).result()

    async def asked(self, name: str, args: Mapping[str, Any], changes: dict[str, Any] | None = None) -> Any:
        """What a tool answers. `changes` gets the changes of the state that it makes."""
        return await asyncio.wrap_future(self._ask(name, args, changes))

    def take(self, message: dict[str, Any]) -> None:
        """Takes an answer of the other side."""
        with self._lock:
            asked = self._waiting.pop(str(message.get("id")), None)
        if asked is None:
            return
        waiting, changes = asked
        if state := message.get("state"):
            self._change(state)
            if changes is not None:
                changes.update(state)
        # A turn that was given up has cancelled the wait.
        if waiting.set_running_or_notify_cancel():
            if "error" in message:
                waiting.set_exception(ToolFailed(message["error"]))
            else:
                waiting.set_result(message.get("result"))

    def _ask(self, name: str, args: Mapping[str, Any], changes: dict[str, Any] | None = None) -> Future[Any]:
        answer: Future[Any] = Future()
        id = str(next(self._ids))
        with self._lock:
            self._waiting[id] = (answer, changes)
        self._write({"type": "tool", "id": id, "name": name, "args": plain(args)})
        return answer


def current(tool: str) -> Golden | None:
    """The golden tools of the caller's conversation; None if its tools run. A thread that an agent started may not know it."""
    golden = _CURRENT.get()
    if golden is not None or not _OPEN:
        return golden
    if len(_OPEN) == 1:
        return _OPEN[0]
    raise AgentError(
        f"the tool `{tool}` was called in a thread that belongs to no conversation, while {len(_OPEN)} ran with golden tools; "
        "start the thread with `contextvars.copy_context().run`"
    )


def value(answer: Any, function: Any = None) -> Any:
    """What a tool returns for an answer: what is below its only key `result`, as the value of the function's type."""
    if isinstance(answer, dict) and answer.keys() == {"result"}:
        answer = answer["result"]
    kind = _returned(function)
    if callable(getattr(kind, "model_validate", None)):
        return kind.model_validate(answer)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and isinstance(answer, dict):
        return kind(**answer)
    return answer


def _returned(function: Any) -> Any:
    """The type that a function says to return."""
    try:
        return typing.get_type_hints(inspect.unwrap(function)).get("return")
    except Exception:
        return None
