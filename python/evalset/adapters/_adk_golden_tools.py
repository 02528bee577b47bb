"""Golden tools for agents of google-adk: a plugin wraps their tools in place, so that the agent's own callbacks run before."""

from __future__ import annotations

import importlib
from typing import Any

from .._errors import AgentError
from .._golden import current
from ._message import has_base

WRAPPED = "_evalset_golden_tools"
# The mark of the context of a call that came to its tool.
REACHED = "_evalset_golden_tools_reached"
# Classes of ADK whose tools hand over to an agent, or belong to ADK's own course of a turn.
RUN = {"AgentTool", "TransferToAgentTool", "SetModelResponseTool", "FinishTaskTool"}


def plugin() -> Any:
    """A plugin for the runner of one conversation."""
    base: Any = importlib.import_module("google.adk.plugins.base_plugin").BasePlugin

    class GoldenTools(base):  # type: ignore[misc]
        async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
            # An agent that the tree does not show.
            refuse_code(agent)

        async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
            if current(tool.name) is not None:
                _wrap(tool)

        async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> None:
            # A callback of the agent, or its wait for a confirmation, answered before the tool was reached.
            if (golden := current(tool.name)) is not None and not getattr(tool_context, REACHED, False):
                golden.own_call(tool.name)

    return GoldenTools(name="evalset_golden_tools")


def refuse_code(root: Any) -> None:
    """Refuses an agent of the tree whose executor of code is not its model: what it runs has no golden answer."""
    left: list[Any] = [root]
    seen: set[int] = set()
    while left:
        agent = left.pop()
        if id(agent) in seen or not has_base(agent, "google.adk", {"BaseAgent", "BaseNode"}):
            continue
        seen.add(id(agent))
        executor = getattr(agent, "code_executor", None)
        if executor is not None and not has_base(executor, "google.adk", {"BuiltInCodeExecutor"}):
            raise AgentError(
                f"the agent `{agent.name}` runs code by its `{type(executor).__name__}`, which no golden answers; leave "
                "`code_executor` out of the agent for these cases, or run them without golden tools"
            )
        left += getattr(agent, "sub_agents", None) or []
        left += [getattr(tool, "agent", None) for tool in getattr(agent, "tools", None) or []]


def _wrap(tool: Any) -> None:
    # A copy of a tool has the mark of the original.
    if getattr(tool, WRAPPED, None) is tool:
        return
    original = tool.run_async
    is_run = _is_run(tool)

    async def run_async(*, args: Any, tool_context: Any) -> Any:
        golden = current(tool.name)
        setattr(tool_context, REACHED, True)
        if golden is not None and is_run:
            golden.own_call(tool.name)
        if golden is None or is_run:
            # Without golden tools it is of another conversation of this process, whose tools are real.
            return await original(args=args, tool_context=tool_context)
        changes: dict[str, Any] = {}
        try:
            return await golden.asked(tool.name, args, changes)
        finally:
            for key, changed in changes.items():
                tool_context.state[key] = changed

    tool.run_async = run_async
    setattr(tool, WRAPPED, tool)


def _is_run(tool: Any) -> bool:
    if tool.name == "transfer_to_agent":
        return True
    own = [kind for kind in type(tool).__mro__ if kind.__module__.split(".")[:2] == ["google", "adk"]]
    if any(kind.__name__ in RUN for kind in own):
        if getattr(tool, "include_plugins", True) is False:
            raise AgentError(
                f"the agent `{tool.name}` runs as a tool that keeps plugins out (`include_plugins=False`), so its tools would run"
            )
        return True
    function = getattr(tool, "func", None)
    return getattr(function, "__name__", "") == "exit_loop" and str(function.__module__).startswith("google.adk.")
