"""Tools that record their calls in the turn in which they run."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, overload

from .turn import Turn

F = TypeVar("F", bound=Callable[..., Any])

_CURRENT: contextvars.ContextVar[Turn | None] = contextvars.ContextVar("turn", default=None)
# The turns in progress of functions and classes.
_RUNNING: list[Turn] = []


@contextlib.contextmanager
def running(turn: Turn) -> Iterator[None]:
    """Makes a turn the one in which tools record their calls, in the context of the caller."""
    token = _CURRENT.set(turn)
    _RUNNING.append(turn)
    try:
        yield
    finally:
        _RUNNING.remove(turn)
        _CURRENT.reset(token)


def _turn_of(tool: str) -> Turn | None:
    """The turn that a call of a tool belongs to. A thread that an agent started may not know it."""
    turn = _CURRENT.get()
    if turn is not None or not _RUNNING:
        return turn
    if len(_RUNNING) == 1:
        return _RUNNING[0]
    for other in list(_RUNNING):
        other.fail(
            f"the tool `{tool}` was called in a thread that belongs to no turn, while {len(_RUNNING)} turns ran; start the "
            "thread with `contextvars.copy_context().run`, or use `turn.tool`"
        )
    return None


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(*, name: str) -> Callable[[F], F]: ...
def tool(function: Any = None, /, *, name: str | None = None) -> Any:
    """Decorates a function, so that its calls are recorded in the turn in which they are made.

    It is for agents that are functions or classes: frameworks record the calls of their tools. Outside of a turn the
    function is as it was.
    """
    if function is None:
        return functools.partial(_decorated, name=name)
    return _decorated(function)


def _decorated(function: Callable[..., Any], name: str | None = None) -> Callable[..., Any]:
    title = name or function.__name__
    signature = inspect.signature(function)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Turn | None, dict[str, Any]]:
        turn = _turn_of(title)
        return turn, {} if turn is None else _by_name(signature, args, kwargs)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            turn, named = begin(args, kwargs)
            if turn is None:
                return await function(*args, **kwargs)

            @functools.wraps(function)
            async def call(**_: Any) -> Any:
                return await function(*args, **kwargs)

            return await turn.tool(title, named, call)

        return awaited

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        turn, named = begin(args, kwargs)
        if turn is None:
            return function(*args, **kwargs)

        @functools.wraps(function)
        def call(**_: Any) -> Any:
            return function(*args, **kwargs)

        return turn.tool(title, named, call)

    return called


def _by_name(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by their names, without the object of a method."""
    try:
        given: dict[str, Any] = signature.bind(*args, **kwargs).arguments
    except TypeError:
        # A model may ask for a call with wrong arguments. The call fails, and it is recorded too.
        given = {**dict(zip(signature.parameters, args)), **kwargs}
    named: dict[str, Any] = {}
    for at, (name, value) in enumerate(given.items()):
        parameter = signature.parameters.get(name)
        if parameter is not None and parameter.kind is inspect.Parameter.VAR_KEYWORD and isinstance(value, dict):
            named.update(value)
        elif not (at == 0 and name in ("self", "cls")):
            named[name] = value
    return named
