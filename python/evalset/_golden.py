"""Golden tools: the other side answers the calls of a conversation's tools, and no tool runs."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import dataclasses
import inspect
import itertools
import threading
import typing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from typing import Any

from ._errors import AgentError
from ._json import plain

# Those of the conversation that a context belongs to, `(None,)` if its tools run; None if it belongs to none.
_CURRENT: contextvars.ContextVar[tuple[Golden | None] | None] = contextvars.ContextVar("golden", default=None)
# Those of each conversation in progress, None if its tools run.
_OPEN: list[Golden | None] = []


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
        self._is_over = False
        # The tools of a framework that ask or that are meant to run, and the ids of the calls that came to one that asks.
        self._known: set[str] = set()
        self._reached: set[str] = set()

    def ask(self, name: str, args: Mapping[str, Any]) -> Any:
        """What a tool answers. Blocks its thread."""
        try:
            return self._ask(name, args).result()
        except CancelledError:
            # As in a task, so that an agent does not take it for a failure of its tool, and go on.
            raise asyncio.CancelledError from None

    async def asked(self, name: str, args: Mapping[str, Any], changes: dict[str, Any] | None = None) -> Any:
        """What a tool answers. `changes` gets the changes of the state that it makes."""
        return await asyncio.wrap_future(self._ask(name, args, changes))

    def own_call(self, name: str) -> None:
        """Tells of a call that is recorded and that no tool answers: it runs another agent, or the agent answers it itself.

        Any other call of a tool that the case expects is an error if it was not asked for.
        """
        self._write({"type": "own_call", "name": name})

    def knows(self, *names: str) -> None:
        """Notes tools that ask, or that are meant to run, as an agent that is a tool."""
        self._known.update(names)

    def reached(self, id: str | None) -> None:
        """Notes a call, by the framework's id, that came to a tool that asks."""
        self._reached.add(str(id))

    def settled(self, id: str | None, name: str) -> None:
        """Tells of a call that has its result. One that came to no tool is the agent's own if the tool is known."""
        if name in self._known and str(id) not in self._reached:
            self.own_call(name)

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

    def give_up(self) -> bool:
        """Ends the waits for answers, and those to come. Whether something waited."""
        with self._lock:
            self._is_over = True
            waiting, self._waiting = self._waiting, {}
        for answer, _ in waiting.values():
            answer.cancel()
        return bool(waiting)

    def _ask(self, name: str, args: Mapping[str, Any], changes: dict[str, Any] | None = None) -> Future[Any]:
        answer: Future[Any] = Future()
        id = str(next(self._ids))
        with self._lock:
            if self._is_over:
                answer.cancel()
                return answer
            self._waiting[id] = (answer, changes)
        self._write({"type": "tool", "id": id, "name": name, "args": plain(args)})
        return answer


@contextlib.contextmanager
def conversation(golden: Golden | None) -> Iterator[None]:
    """Makes the caller's context the one of a conversation with these golden tools; None if its tools run."""
    _CURRENT.set((golden,))
    _OPEN.append(golden)
    try:
        yield
    finally:
        _OPEN.remove(golden)


def current(tool: str) -> Golden | None:
    """The golden tools of the caller's conversation; None if its tools run. A thread that an agent started may not know it."""
    known = _CURRENT.get()
    if known is not None:
        return known[0]
    running = list(_OPEN)
    if all(golden is None for golden in running):
        return None
    if len(running) == 1:
        return running[0]
    raise AgentError(
        f"the tool `{tool}` was called in a thread that belongs to no conversation, while {len(running)} ran and not all tools "
        "were real; start the thread with `contextvars.copy_context().run`"
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
