"""The program's side of the protocol: any number of conversations in one process."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from . import _errors
from ._conversation import Conversation
from ._loading import load
from ._streams import Lines
from .adapters import Host

PROTOCOL = 1
# The time, in seconds, that cut conversations and agents have to end. The other side waits a few seconds.
END_WITHIN = 2.0


def serve(agent: Any) -> None:
    """Serves an agent until the input ends. Ends the process with 1 if a conversation failed when it ended."""
    if code := _serve(lambda: agent):
        sys.exit(code)


def serve_named(name: str) -> NoReturn:
    """Serves the object that `MODULE:OBJECT` names, and ends the process. If there is none, each conversation is told why."""
    code = _serve(lambda: load(name))
    # Python takes seconds to take large frameworks apart, in which the other side would wait. What they registered for the end
    # runs, such as the last export of traces.
    atexit._run_exitfuncs()
    _end_now(code)


def _cut() -> NoReturn:
    """Ends the process while a tool may be hanging in a thread, for which asyncio and Python would wait."""
    # What was registered for the end may wait for that thread too.
    last = threading.Thread(target=atexit._run_exitfuncs, daemon=True)
    last.start()
    last.join(END_WITHIN)
    _end_now(0)


def _end_now(code: int) -> NoReturn:
    # An agent may have closed it.
    with contextlib.suppress(Exception):
        sys.stderr.flush()
    os._exit(code)


def _serve(find: Callable[[], Any]) -> int:
    """Serves until the input ends; the exit code."""
    lines = Lines.take_over()
    # Before a slow import, as the other side waits for it.
    lines.write({"type": "hello", "protocol": PROTOCOL})
    try:
        return asyncio.run(_Server(lines, Host(find)).run())
    except KeyboardInterrupt:
        return 0


class _Server:
    """Reads messages and hands them to their conversations."""

    def __init__(self, lines: Lines, host: Host) -> None:
        self._lines = lines
        self._host = host
        self._open: dict[str, Conversation] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._cut: set[asyncio.Task[None]] = set()
        self._is_cut = False
        self._code = 0

    async def run(self) -> int:
        """Serves until the input ends; the exit code."""
        inbox: asyncio.Queue[dict[str, Any] | BaseException | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def read() -> None:
            last: BaseException | None = None
            try:
                for message in self._lines.read():
                    if message.get("type") == "tool_result":
                        self._answer(message)
                        continue
                    if message.get("type") == "end":
                        self._give_up(str(message.get("session_id")))
                    loop.call_soon_threadsafe(inbox.put_nowait, message)
            except Exception as error:
                last = error
            for id in list(self._open):
                self._give_up(id)
            if not loop.is_closed():
                loop.call_soon_threadsafe(inbox.put_nowait, last)

        threading.Thread(target=read, name="protocol", daemon=True).start()
        try:
            while isinstance(message := await inbox.get(), dict):
                self._take(message)
        except asyncio.CancelledError:
            # Of an interrupt. Otherwise a conversation would take it for an error of its agent, and go on.
            for conversation in self._open.values():
                conversation.cut()
            raise
        if message is not None:
            raise message
        await self._end()
        if self._is_cut:
            _cut()
        return self._code

    def _take(self, message: dict[str, Any]) -> None:
        kind, id = message.get("type"), str(message.get("session_id"))
        if kind == "start":
            self._open[id] = Conversation(message, self._host.open, self._lines.write)
        elif kind == "turn" and id in self._open:
            self._open[id].put(message)
        elif kind == "end" and id in self._open:
            self._close(self._open.pop(id))

    def _answer(self, message: dict[str, Any]) -> None:
        conversation = self._open.get(str(message.get("session_id")))
        if conversation is not None:
            conversation.answer(message)

    def _give_up(self, id: str) -> None:
        conversation = self._open.get(id)
        if conversation is not None:
            conversation.give_up()

    def _close(self, conversation: Conversation) -> None:
        is_cut = conversation.end()
        self._is_cut |= is_cut
        tasks = self._cut if is_cut else self._ending
        tasks.add(conversation.task)
        conversation.task.add_done_callback(tasks.discard)
        conversation.task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and isinstance(error := task.exception(), _errors.AgentError):
            self._code = 1
            # An agent may have closed it.
            with contextlib.suppress(Exception):
                print(f"evalset: {error}", file=sys.stderr, flush=True)

    async def _end(self) -> None:
        for id in list(self._open):
            self._close(self._open.pop(id))
        await asyncio.gather(*self._ending, return_exceptions=True)
        if self._cut:
            await asyncio.wait(self._cut, timeout=END_WITHIN)
        try:
            await asyncio.wait_for(self._host.close(), END_WITHIN)
        except Exception as error:
            _errors.show(error)
            self._code = 1
