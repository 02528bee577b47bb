"""Agents and apps of google-adk, run in this process by ADK's own runner."""

from __future__ import annotations

import importlib
import json
import sys
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from .._conversation import Agent
from .._errors import headline
from ..turn import Session, Turn
from ._message import has_base

if TYPE_CHECKING:
    from . import Host

NAME = "google-adk"
TAKEN = frozenset({"agent", "app", "node"})


def matches(agent: Any) -> bool:
    return has_base(agent, "google.adk", {"BaseAgent", "BaseNode", "App"})


def lacks_state(agent: Any) -> str | None:
    return None


async def open(agent: Any, options: dict[str, Any], session: Session, host: Host) -> Agent:
    runners: Any = importlib.import_module("google.adk.runners")
    services = importlib.import_module("google.adk.sessions").InMemorySessionService()
    # As in ADK's evaluation, with services that belong to the conversation: state of users and apps is not shared.
    given: dict[str, Any] = {
        "session_service": services,
        "artifact_service": importlib.import_module("google.adk.artifacts").InMemoryArtifactService(),
        "memory_service": importlib.import_module("google.adk.memory").InMemoryMemoryService(),
        **options,
    }
    run_config = given.pop("run_config", None)
    if session.golden is not None:
        from ._adk_golden_tools import plugin, refuse_code

        refuse_code(agent.root_agent if has_base(agent, "google.adk", {"App"}) else agent)
        if has_base(agent, "google.adk", {"App"}):
            agent = agent.model_copy(update={"plugins": [*agent.plugins, plugin()]})
        else:
            given["plugins"] = [*(given.get("plugins") or []), plugin()]
    if has_base(agent, "google.adk", {"App"}):
        given["app"] = agent
    else:
        given.setdefault("app_name", session.app_name or agent.name)
        given["agent" if has_base(agent, "google.adk", {"BaseAgent"}) else "node"] = agent
    runner = runners.Runner(**given)
    # Closing a runner closes the tools of its agent, which other conversations use.
    host.lasting.push_async_callback(runner.close)
    user = session.user_id or "user"
    created = await runner.session_service.create_session(
        app_name=runner.app_name, user_id=user, session_id=session.id, state=dict(session.state)
    )
    return Conversation(runner, user, created.id, session, run_config, await _details(runner.agent))


async def _details(root: Any) -> dict[str, Any] | None:
    """Instructions and tools, as ADK's server tells them."""
    try:
        described = await importlib.import_module("google.adk.utils.agent_info").get_agents_dict(root)
    except Exception as error:
        # Older versions have none, other roots than agents of models have none, and tools may be out of reach for now.
        print(f"no details of {root.name}: {headline(error)}", file=sys.stderr)
        return None
    agents = {name: agent.model_dump(mode="json", by_alias=True, exclude_none=True) for name, agent in described.items()}
    return {"agents": agents}


class Conversation:
    """A session of ADK."""

    asks_golden_tools = True

    def __init__(
        self, runner: Any, user: str, id: str, session: Session, run_config: Any, details: dict[str, Any] | None
    ) -> None:
        self._runner, self._user, self._id, self._session = runner, user, id, session
        self.details = details
        self._run_config = run_config

    async def turn(self, turn: Turn) -> None:
        types: Any = importlib.import_module("google.genai.types")
        message = types.Content.model_validate_json(json.dumps(turn.content))
        run = self._runner.run_async(user_id=self._user, session_id=self._id, new_message=message, run_config=self._run_config)
        async with aclosing(run) as events:
            async for event in events:
                # As ADK's server sends it.
                turn.event(json.loads(event.model_dump_json(by_alias=True, exclude_none=True)))
        stored = await self._runner.session_service.get_session(
            app_name=self._runner.app_name, user_id=self._user, session_id=self._id
        )
        self._session.state = dict(stored.state)

    async def close(self) -> None:
        pass
