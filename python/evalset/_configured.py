"""Agents with the options of their framework's runner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .turn import Session

OptionsOfSession = Callable[[Session], "dict[str, Any]"]


@dataclass(frozen=True)
class Configured:
    """An agent, and what its framework is given with each message."""

    agent: Any
    of_session: OptionsOfSession | None
    options: dict[str, Any]

    def of(self, session: Session) -> dict[str, Any]:
        """The options of a conversation."""
        return {**self.options, **(self.of_session(session) if self.of_session else {})}


def with_options(agent: Any, of_session: OptionsOfSession | None = None, /, **options: Any) -> Configured:
    """An agent of a framework with options of its runner, such as `deps` of pydantic-ai.

    `of_session` makes options for each conversation: it is given the session, with the state of the case.

        agent = with_options(bank, lambda session: {"deps": Account(session.state["account"])})

    They are arguments of `Agent.iter` (pydantic-ai), `Runner.run` (openai-agents), `astream` (LangGraph), and of ADK's
    `Runner`.
    """
    return Configured(agent, of_session, options)
