"""One conversation of the protocol: a task that answers its messages in order."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from . import _errors
from ._golden import Golden, conversation
from ._json import as_state, plain
from .turn import Session, Turn


class Agent(Protocol):
    """An agent in one conversation. Its `details`, if it has them, are what its agents are made of, for judges.

    `asks_golden_tools` is true if each of its tools asks for its answer when the session has golden tools.
    """

    async def turn(self, turn: Turn) -> None:
        """Answers a message of the user."""

    async def close(self) -> None:
        """Ends the conversation."""


# Messages within this time, in seconds, are taken for a file of messages. With a time limit as short, such as 400 ms, nothing is
# cut: the other side kills the program, unless other conversations share it.
AT_ONCE = 0.5

Open = Callable[[Session], Awaitable[Agent]]
Write = Callable[["dict[str, Any]"], None]


class Conversation:
    """Begins with `start`, answers each `turn`, and is over with `end`."""

    def __init__(self, start: dict[str, Any], open_agent: Open, write: Write) -> None:
        self.id = str(start["session_id"])
        state = start.get("state") or {}
        self._golden = Golden(self._write, self._change) if start.get("tools") == "golden" else None
        self._session = Session(self.id, start.get("app_name") or "", start.get("user_id") or "", state, self._golden)
        # As the other side knows it.
        self._state: dict[str, Any] = copy.deepcopy(state)
        self._history: list[dict[str, str]] = []
        self._open = open_agent
        self._write_line = write
        self._inbox: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._lock = threading.Lock()
        self._turn: Turn | None = None
        self._is_busy = True
        self._is_over = False
        self._asked = asyncio.get_running_loop().time()
        # A task has a context of its own, so nothing that an agent sets there is seen by another conversation.
        self.task = asyncio.create_task(self._run())

    def put(self, message: dict[str, Any]) -> None:
        """Takes a message of the user."""
        self._asked = asyncio.get_running_loop().time()
        self._inbox.put_nowait(message)

    def answer(self, message: dict[str, Any]) -> None:
        """Takes the answer of a golden tool, in the thread that reads: the loop may wait for it."""
        if self._golden is not None:
            self._golden.take(message)

    def give_up(self) -> None:
        """Gives up what waits for a golden tool, in the thread that reads: one that never answers may keep the loop."""
        if self._golden is None:
            return
        with self._lock:
            # What the agent does from now on is not written.
            self._is_over = self._golden.give_up() or self._is_over

    def end(self) -> bool:
        """Ends the conversation. Whether something was cut short, as its time limit has passed.

        If all messages come at once, as from a file, they are answered first.
        """
        is_cut = self._is_busy and asyncio.get_running_loop().time() - self._asked > AT_ONCE
        if is_cut:
            self.cut()
        self._inbox.put_nowait(None)
        return is_cut

    def cut(self) -> None:
        """Cancels what the agent does."""
        with self._lock:
            self._is_over = True
        self.task.cancel()

    async def _run(self) -> None:
        with conversation(self._golden):
            await self._converse()

    async def _converse(self) -> None:
        try:
            agent = await self._open(self._session)
        except BaseException as error:
            if self._was_cancelled(error):
                raise
            self._fail(error)
            # A message that comes nevertheless has an answer too.
            while await self._next() is not None:
                self._fail(error)
            return
        try:
            details = getattr(agent, "details", None)
            # Without the answer the tools would run, and the other side ends the conversation.
            asks = self._golden is not None and getattr(agent, "asks_golden_tools", False)
            tools = {"tools": "golden"} if asks else {}
            self._write({"type": "started", **({"details": details} if details else {}), **tools})
            while (message := await self._next()) is not None:
                await self._answer(agent, message.get("content") or {})
        finally:
            with self._lock:
                self._is_over = True
            try:
                await agent.close()
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                _errors.show(error)
                # The end of the loop, such as `SystemExit`, would be the end of all conversations.
                raise _errors.AgentError(f"the agent failed when its conversation ended: {_errors.describe(error)}") from None

    async def _next(self) -> dict[str, Any] | None:
        self._is_busy = not self._inbox.empty()
        message = await self._inbox.get()
        self._is_busy = True
        return message

    async def _answer(self, agent: Agent, content: dict[str, Any]) -> None:
        turn = Turn(content, self._session, list(self._history), lambda message: self._record(turn, message))
        self._turn = turn
        try:
            await agent.turn(turn)
            _check_parts(turn, content)
            _check_calls(turn)
            self._history.append({"role": "user", "content": turn.message})
            self._history.append({"role": "assistant", "content": turn.answer or ""})
            end = self._end_of(turn)
        except BaseException as error:
            # Agents raise more than `Exception`, such as `pytest.fail` and groups. What is not caught ends the task in silence.
            if self._was_cancelled(error):
                raise
            _errors.show(error)
            turn.fail(_errors.describe(error))
            end = {}
        with self._lock:
            # From now on a record of this turn is late.
            self._turn = None
            if turn.failure is not None:
                end = {"type": "error", "message": plain(turn.failure)}
            self._write(end)

    def _was_cancelled(self, error: BaseException) -> bool:
        """Whether the error is the end of the conversation, and none of the agent."""
        return isinstance(error, asyncio.CancelledError) and self._is_over

    def _end_of(self, turn: Turn) -> dict[str, Any]:
        """The end of a turn. Changes of the state are recorded, unless events of the turn had them."""
        # A golden tool or a record in another thread may change the state meanwhile.
        with self._lock:
            state = as_state(self._session.state)
            changed = {key: value for key, value in state.items() if key not in self._state or self._state[key] != value}
            is_smaller = bool(self._state.keys() - state.keys())
            self._state = copy.deepcopy(state)
        # Outside of the lock, which a record takes.
        if changed:
            turn.event({"actions": {"stateDelta": changed}})
        # An event cannot say that a key is gone.
        return {"type": "turn_end", "state": state} if is_smaller else {"type": "turn_end"}

    def _record(self, turn: Turn, message: dict[str, Any]) -> None:
        with self._lock:
            if self._turn is turn:
                delta = (message["event"].get("actions") or {}).get("stateDelta") or {}
                self._state.update(delta)
                # Otherwise the end of the turn would take the change back.
                self._session.state.update(delta)
                self._write(message)
            elif self._turn is not None:
                self._turn.fail(LATE)
            else:
                # Nothing was asked, so this is an error of the conversation, whatever comes next.
                self._write({"type": "error", "message": LATE})

    def _change(self, state: dict[str, Any]) -> None:
        """Takes changes of the state that golden tools make."""
        with self._lock:
            self._session.state.update(copy.deepcopy(state))
            self._state.update(copy.deepcopy(state))

    def _fail(self, error: BaseException) -> None:
        if not isinstance(error, _errors.AgentError):
            _errors.show(error)
        self._write({"type": "error", "message": plain(_errors.describe(error))})

    def _write(self, message: dict[str, Any]) -> None:
        if not self._is_over:
            self._write_line({**message, "session_id": self.id})


LATE = "the agent recorded something after its turn had ended; let the turn wait for all that it starts"


def _check_parts(turn: Turn, content: dict[str, Any]) -> None:
    """Makes the turn an error if the agent has not seen all of the message."""
    others = {key for part in content.get("parts") or [] for key in part if key not in ("text", "thought")}
    if others and not turn.parts_were_read:
        turn.fail(
            f"the user's message has a part `{min(others)}`, and the agent read its text alone; it is in `turn.content`, of the "
            "second parameter `turn`"
        )


def _check_calls(turn: Turn) -> None:
    """Makes the turn an error if a call has no result: its tool may never have run."""
    name = turn.open_call
    if name is not None:
        turn.fail(
            f"the call of the tool `{name}` was not awaited: it had no result when its turn ended; an async tool needs "
            f'`await turn.tool("{name}", ..)`, and a task or a thread has to be waited for'
        )
