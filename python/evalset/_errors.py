"""Errors of agents, in a line."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import traceback
from pathlib import Path


class AgentError(Exception):
    """An error whose message says what is wrong with the agent and what helps. It needs no type and no place."""


def describe(error: BaseException) -> str:
    """The type and the message of an error, and the place in the code of the agent where it was raised."""
    try:
        return _description(error)
    except Exception:
        # A group can hold itself, and code of an agent runs here.
        return type(error).__name__


def _description(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError):
        return "the agent was cancelled"
    if isinstance(error, AgentError):
        return str(error)
    inner = getattr(error, "exceptions", None)
    # A group of errors says only how many they are.
    if isinstance(inner, tuple) and inner and all(isinstance(one, BaseException) for one in inner):
        return "; ".join(_description(one) for one in inner)
    text = headline(error)
    if hiding := hiding_file(error):
        text = f"{text}: {hiding}"
    place = place_of(error)
    return f"{text} ({place})" if place else text


def hiding_file(error: BaseException) -> str | None:
    """That a file of the current folder hides a module of the standard library, if the error speaks of such a module."""
    if isinstance(error, (ImportError, AttributeError)):
        for name in sys.stdlib_module_names.intersection(re.findall(r"'(\w+)[.']", str(error))):
            for file in (f"{name}.py", f"{name}/__init__.py"):
                if Path(file).is_file():
                    return f"`{file}` hides the module `{name}` of Python; rename it"
    return None


def headline(error: BaseException) -> str:
    """The type and the message of an error."""
    kind = type(error)
    # `Error` alone says nothing.
    name = f"{kind.__module__}.Error" if kind.__name__ == "Error" else kind.__name__
    try:
        text = str(error).strip()
    except Exception as broken:
        text = f"(its text raises {type(broken).__name__})"
    return f"{name}: {text}" if text else name


def place_of(error: BaseException) -> str | None:
    """The innermost place of an error in files below the current folder, apart from installed packages."""
    try:
        here = Path(os.getcwd())
    except OSError:
        # The folder was deleted.
        return None
    own = Path(__file__).resolve().parent
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        is_agent = path.is_relative_to(here) and not path.is_relative_to(own)
        if is_agent and not {"site-packages", "dist-packages"} & set(path.parts):
            return f"in {frame.name}, {path.relative_to(here)}:{frame.lineno}"
    return None


def show(error: BaseException) -> None:
    """Writes the traceback of an error to standard error."""
    try:
        traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
        sys.stderr.flush()
    except Exception:
        # The agent closed it, or replaced it.
        pass
