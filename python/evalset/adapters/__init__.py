"""What an agent can be. An adapter is found by the type of the object; no framework is imported for that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, Protocol

from .. import _errors
from .._configured import Configured
from .._conversation import Agent
from .._errors import AgentError
from ..turn import Session
from . import functions, google_adk, langchain, openai_agents, pydantic_ai


class Adapter(Protocol):
    """Conversations with one kind of objects."""

    NAME: str
    # The arguments of the runner that the adapter gives it.
    TAKEN: frozenset[str]

    def matches(self, agent: Any) -> bool: ...

    def lacks_state(self, agent: Any) -> str | None:
        """Why a case with state cannot be played, unless a function of the session hands the state over."""

    def open(self, agent: Any, options: dict[str, Any], session: Session, host: Host) -> Awaitable[Agent]: ...


FRAMEWORKS: list[Any] = [pydantic_ai, openai_agents, langchain, google_adk]
# Short, as messages are cut.
KINDS = "name an agent of pydantic-ai, openai-agents or google-adk, a compiled graph, a function, or a class with `turn`"


def kind_of(agent: Any) -> str | None:
    """The name of the adapter of an object."""
    if isinstance(agent, Configured):
        return kind_of(agent.agent)
    for adapter in FRAMEWORKS:
        if not isinstance(agent, type) and adapter.matches(agent):
            return str(adapter.NAME)
    return functions.kind_of(agent)


class Host:
    """The agent of this process, from which conversations are opened."""

    def __init__(self, find: Callable[[], Any]) -> None:
        self._problem: str | None = None
        # Entered by adapters for as long as the process lives.
        self.lasting = AsyncExitStack()
        try:
            self._agent = find()
        except BaseException as error:
            if not isinstance(error, AgentError):
                _errors.show(error)
            self._problem = _errors.describe(error)

    async def open(self, session: Session) -> Agent:
        """Opens a conversation."""
        if self._problem is not None:
            raise AgentError(self._problem)
        return await self.open_object(self._agent, session)

    async def open_object(self, agent: Any, session: Session, *, is_own: bool = False) -> Agent:
        """Opens a conversation with an object. `is_own` says that no other conversation has it."""
        configured = agent if isinstance(agent, Configured) else None
        agent = configured.agent if configured else agent
        for adapter in FRAMEWORKS:
            if not isinstance(agent, type) and adapter.matches(agent):
                hands_over = configured is not None and configured.of_session is not None
                if session.state and not hands_over and (why := adapter.lacks_state(agent)):
                    keys = ", ".join(f"`{key}`" for key in session.state)
                    raise AgentError(f"the case begins with state ({keys}), and {why}")
                options = configured.of(session, adapter.TAKEN) if configured else {}
                opened: Agent = await adapter.open(agent, options, session, self)
                return opened
        if configured:
            raise AgentError(f"`with_options` is for agents of frameworks, and this is a `{type(agent).__name__}`")
        return await functions.open(agent, session, self, is_own=is_own)

    async def close(self) -> None:
        """Closes what adapters keep for the process."""
        await self.lasting.aclose()
