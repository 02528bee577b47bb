"""Agents with the options of their framework's runner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import AgentError
from .turn import Session

OptionsOfSession = Callable[[Session], "dict[str, Any]"]


@dataclass(frozen=True)
class Configured:
    """An agent, and what its framework is given with each message."""

    agent: Any
    of_session: OptionsOfSession | None
    options: dict[str, Any]

    def of(self, session: Session, taken: frozenset[str]) -> dict[str, Any]:
        """The options of a conversation. Those that are `taken` are given to the framework already."""
        of_session = self.of_session(session) if self.of_session else {}
        if not isinstance(of_session, Mapping):
            kind = type(of_session).__name__
            raise AgentError(f"the function of `with_options` returned a `{kind}`; return a dictionary of options")
        options = {**self.options, **of_session}
        if clash := taken & options.keys():
            raise AgentError(f"leave `{min(clash)}` out of `with_options`: evalset gives it to the framework itself")
        return options


def with_options(agent: Any, of_session: OptionsOfSession | None = None, /, **options: Any) -> Configured:
    """An agent of a framework with options of its runner, such as `deps` of pydantic-ai.

    `of_session` makes options for each conversation: it is given the session, with the state of the case.

        agent = with_options(bank, lambda session: {"deps": Account(session.state["account"])})

    They are arguments of `Agent.iter` (pydantic-ai), `Runner.run` (openai-agents), `astream` (LangGraph), and of ADK's
    `Runner`.
    """
    return Configured(agent, of_session, options)
