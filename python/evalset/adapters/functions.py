"""Agents that are functions or classes."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from .._conversation import Agent
from .._errors import AgentError
from .._json import as_text
from .._tools import running
from .._worker import Worker
from ..turn import Session, Turn
from ._message import has_base

if TYPE_CHECKING:
    from . import Host


def kind_of(agent: Any) -> str | None:
    if isinstance(agent, type):
        return "class"
    return "function" if callable(agent) else None


async def open(agent: Any, session: Session, host: Host, *, is_own: bool) -> Agent:
    from . import KINDS

    if isinstance(agent, type):
        return await _open_class(agent, session, host)
    if is_own and callable(getattr(agent, "turn", None)):
        return Function(agent.turn, agent)
    name = type(agent).__name__
    # What wraps a function is one.
    is_called = inspect.isfunction(getattr(type(agent), "__call__", None)) and not hasattr(agent, "__wrapped__")
    takes_messages = callable(getattr(agent, "turn", None)) or (is_called and bool(_parameters(agent)))
    if takes_messages and not is_own:
        raise AgentError(
            f"the object is an instance of `{name}`, and all conversations would share it; name the class `{name}`, or a function "
            "without parameters that makes one"
        )
    if not callable(agent):
        if callable(getattr(agent, "compile", None)):
            raise AgentError(f"the object is a `{name}`, which is not compiled; name what `compile()` returns")
        raise AgentError(f"a `{name}` is no agent; {KINDS}")
    if not _parameters(agent):
        return await _open_made(agent, session, host)
    return Function(agent, agent if is_own else None)


async def _open_class(cls: type, session: Session, host: Host) -> Agent:
    method = getattr(cls, "turn", None) or next(
        (base.__dict__["__call__"] for base in cls.__mro__ if "__call__" in base.__dict__), None
    )
    parameters = _parameters(cls)
    takes_session = bool(parameters) and _is_for(parameters[0], Session)
    if _required(cls) > takes_session:
        raise AgentError(
            f"`{cls.__name__}{_names(parameters)}` is more than an agent is made of: (session) or nothing; a function without "
            "parameters can make it, and be named"
        )
    arguments = [session] if takes_session else []
    if method is None:
        return await host.open_object(cls(*arguments), session, is_own=True)
    if _is_async(method):
        return Function(None, cls(*arguments), sees_state=bool(arguments))
    # What it makes in its thread, such as a connection of sqlite3, is used there alone.
    worker = Worker()
    return Function(None, await worker.run(cls, *arguments), worker, sees_state=bool(arguments))


async def _open_made(make: Callable[[], Any], session: Session, host: Host) -> Agent:
    """A conversation with what a function without parameters makes for it."""
    made = make()
    if inspect.isawaitable(made):
        made = await made
    async with AsyncExitStack() as stack:
        # Agents of frameworks can be entered too, but their runners do so.
        if isinstance(made, contextlib._AsyncGeneratorContextManager):
            made = await stack.enter_async_context(made)
        elif isinstance(made, contextlib._GeneratorContextManager):
            made = stack.enter_context(made)
        _check_made(make, made)
        agent = await host.open_object(made, session, is_own=True)
        return _Closing(agent, stack.pop_all())


def _check_made(make: Callable[[], Any], made: Any) -> None:
    from . import kind_of

    # What is close to an agent has an error of its own.
    if kind_of(made) is None and not any(callable(getattr(made, name, None)) for name in ("turn", "compile")):
        name = getattr(make, "__name__", "it")
        raise AgentError(
            f"`{name}` made no agent, but `{type(made).__name__}`: a function without parameters makes an agent for each "
            f"conversation; one that answers takes the message, `def {name}(message)`"
        )


class _Closing:
    """A conversation that has something to close."""

    def __init__(self, agent: Agent, stack: AsyncExitStack) -> None:
        self._agent, self._stack = agent, stack
        self.details = getattr(agent, "details", None)
        self.asks_golden_tools = getattr(agent, "asks_golden_tools", False)

    async def turn(self, turn: Turn) -> None:
        await self._agent.turn(turn)

    async def close(self) -> None:
        async with self._stack:
            await self._agent.close()


class Function:
    """A conversation with a function, or with an instance of a class that no other conversation has."""

    asks_golden_tools = True

    def __init__(
        self,
        function: Callable[..., Any] | None,
        instance: Any = None,
        worker: Worker | None = None,
        *,
        sees_state: bool = False,
    ) -> None:
        self._function = function or getattr(instance, "turn", instance)
        self._instance = instance
        self._takes_turn = _takes_turn(self._function)
        self._sees_state = sees_state or self._takes_turn
        self._worker = worker

    async def turn(self, turn: Turn) -> None:
        if turn.state and not self._sees_state:
            keys = ", ".join(f"`{key}`" for key in turn.state)
            raise AgentError(
                f"the case begins with state ({keys}), which the agent is not given; add a second parameter `turn`, and read "
                "`turn.state`"
            )
        arguments = [turn.message, turn] if self._takes_turn else [turn.message]
        if _is_async(self._function):
            with running(turn):
                answer = self._function(*arguments)
                if inspect.isasyncgen(answer):
                    answer = "".join([as_text(checked(piece)) async for piece in answer])
                elif inspect.isawaitable(answer):
                    answer = await answer
        else:
            self._worker = self._worker or Worker()
            answer = await self._worker.run(functools.partial(self._call, turn, arguments))
            if inspect.isawaitable(answer):
                with running(turn):
                    answer = await answer
        turn.say(checked(answer))
        turn.check_asked()
        if not turn.shows_something:
            said = "None" if answer is None else "an empty text"
            turn.fail(f"the function returned {said}; return the answer")

    def _call(self, turn: Turn, arguments: list[Any]) -> Any:
        with running(turn):
            answer = self._function(*arguments)
            return "".join(as_text(checked(piece)) for piece in answer) if inspect.isgenerator(answer) else answer

    async def close(self) -> None:
        end = getattr(self._instance, "end", None)
        if callable(end):
            ended = end() if _is_async(end) or self._worker is None else await self._worker.run(end)
            if inspect.isawaitable(ended):
                await ended
        if self._worker is not None:
            self._worker.close()


# What frameworks return, by the packages and names of the types, and where it has the text.
RESULTS = [
    ("pydantic_ai", {"AgentRunResult", "AgentRun", "StreamedRunResult"}, "output"),
    ("agents", {"RunResultBase"}, "final_output"),
    ("langchain_core", {"BaseMessage"}, "text"),
    ("google.adk", {"Event"}, "content"),
]


def checked(answer: Any) -> Any:
    """An answer, unless it is a result of a framework. Its dump would be compared, with ids and times."""
    one = answer.get("messages") if isinstance(answer, dict) else answer
    one = one[-1] if isinstance(one, (list, tuple)) and one else one
    for module, names, text in RESULTS:
        if has_base(one, module, names):
            raise AgentError(
                f"the function returned what a framework did (`{type(one).__name__}`); name the framework's agent itself, so that "
                f"its calls are recorded, or return the text alone (`.{text}`)"
            )
    return answer


def _is_async(function: Any) -> bool:
    function = getattr(function, "func", function)
    call = getattr(function, "__call__", None)
    return any(inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one) for one in (function, call))


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that can be given by position. One, if that cannot be known."""
    one = inspect.Parameter("message", inspect.Parameter.POSITIONAL_ONLY)
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [one]
    return [one for one in found if one.kind not in (one.KEYWORD_ONLY, one.VAR_KEYWORD)]


def _required(function: Callable[..., Any]) -> int:
    return sum(one.default is one.empty and one.kind is not one.VAR_POSITIONAL for one in _parameters(function))


def _is_for(parameter: inspect.Parameter, kind: type) -> bool:
    """Whether a parameter is for a turn or a session, by its name or its annotation."""
    given = parameter.annotation
    if parameter.name == kind.__name__.lower() or given is kind:
        return True
    # As a text, or one of several types.
    return not isinstance(given, type) and re.search(rf"\b{kind.__name__}\b", str(given)) is not None


def _names(parameters: list[inspect.Parameter]) -> str:
    return f"({', '.join(one.name for one in parameters)})"


def _takes_turn(function: Callable[..., Any]) -> bool:
    parameters = _parameters(function)
    takes_turn = len(parameters) > 1 and _is_for(parameters[1], Turn)
    if not parameters or _required(function) > 1 + takes_turn or _is_for(parameters[0], Turn):
        raise AgentError(
            f"the function takes {_names(parameters)}; the function of an agent takes (message) or (message, turn), and earlier "
            "messages are in `turn.history`"
        )
    return takes_turn
