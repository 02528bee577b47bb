"""Golden tools for `adk api_server`: the tools of the agents ask evalset for their answers, and do not run.

evalset writes this file and its settings into a temporary folder, and removes both once they are loaded. A tool is wrapped
in place, so that the callbacks and the confirmations of the agent run before it as ever.
"""

import asyncio
import contextvars
import json
import os
import shutil
import socket

from google.adk.plugins.base_plugin import BasePlugin

_FOLDER = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(_FOLDER, "evalset_golden_tools.json"), encoding="utf-8") as _settings:
    _DESK = json.load(_settings)
# Nothing is left behind if evalset is killed.
for _name in ("evalset_golden_tools.json", "evalset_golden_tools.py"):
    os.remove(os.path.join(_FOLDER, _name))
shutil.rmtree(os.path.join(_FOLDER, "__pycache__"), ignore_errors=True)
try:
    os.rmdir(_FOLDER)
except OSError:
    pass

_MOST_BYTES = 64 * 1024 * 1024
_WRAPPED = "_evalset_golden_tools"
# The mark of the context of a call that came to its tool.
_REACHED = "_evalset_golden_tools_reached"

# Classes of ADK whose tools hand over to an agent, or belong to ADK's own course of a turn.
_RUN = {"AgentTool", "TransferToAgentTool", "SetModelResponseTool", "FinishTaskTool"}

# The session of the case, for the tools of an agent that runs as a tool in a session of its own.
_SESSION = contextvars.ContextVar("evalset_session", default=None)


class GoldenTools(BasePlugin):
    """Has the tools of an app ask for their answers."""

    def __init__(self, name="evalset_golden_tools"):
        super().__init__(name=name)
        with socket.create_connection((_DESK["host"], _DESK["port"]), timeout=10) as desk:
            desk.sendall(_line({"hello": 1}))
            with desk.makefile("rb") as answers:
                answer = json.loads(answers.read(_MOST_BYTES))
        if answer.get("ok") is not True:
            raise RuntimeError(f"evalset: {answer.get('error', 'the server is not known')}")

    async def before_run_callback(self, *, invocation_context):
        """Ends a run before its first model is asked if one of its agents runs code itself."""
        await _refuse_code(_runs_code(getattr(invocation_context, "agent", None)), invocation_context)

    async def before_agent_callback(self, *, agent, callback_context):
        """Ends a run at an agent that the tree does not show."""
        await _refuse_code(_runs_code(agent), callback_context)

    async def before_tool_callback(self, *, tool, tool_args, tool_context):
        """Wraps the tool. The answer is None, so that the agent's own callbacks run too."""
        await _wrap(tool, _SESSION.get() or _session_of(tool_context))
        return None

    async def after_tool_callback(self, *, tool, tool_args, tool_context, result):
        """Tells of a call that a callback of the agent, or its wait for a confirmation, answered before the tool was reached."""
        if not getattr(tool_context, _REACHED, False):
            await _own_call(tool.name, tool_context)
        return None


async def _refuse_code(why, context):
    if why is not None:
        await _ask({"session": _SESSION.get() or _session_of(context), "refused": why})
        raise RuntimeError(f"evalset: {why}")


def _runs_code(root):
    """The sentence about an agent of the tree whose executor of code is not its model; None without one."""
    left, seen = [root], set()
    while left:
        agent = left.pop()
        kinds = {kind.__name__ for kind in type(agent).__mro__}
        if id(agent) in seen or not kinds & {"BaseAgent", "BaseNode"}:
            continue
        seen.add(id(agent))
        executor = getattr(agent, "code_executor", None)
        if executor is not None and not any(kind.__name__ == "BuiltInCodeExecutor" for kind in type(executor).__mro__):
            return (
                f"the agent `{agent.name}` runs code by its `{type(executor).__name__}`, which no golden answers; leave "
                "`code_executor` out of the agent for these cases, or run them without golden tools"
            )
        left += getattr(agent, "sub_agents", None) or []
        left += [getattr(tool, "agent", None) for tool in getattr(agent, "tools", None) or []]
    return None


async def _wrap(tool, session):
    # A copy of a tool has the mark of the original.
    if getattr(tool, _WRAPPED, None) is tool:
        return
    if _is_run(tool):
        await _wrap_agent(tool, session)
        return

    async def run_async(*, args, tool_context):
        return await _answer(tool.name, args, tool_context)

    tool.run_async = run_async
    setattr(tool, _WRAPPED, tool)


async def _wrap_agent(tool, session):
    if getattr(tool, "include_plugins", True) is False:
        why = f"the agent `{tool.name}` runs as a tool that keeps plugins out (`include_plugins=False`), so its tools would run"
        await _ask({"session": session, "refused": why})
        raise RuntimeError(f"evalset: {why}")
    original = type(tool).run_async

    async def run_async(*, args, tool_context):
        setattr(tool_context, _REACHED, True)
        if tool.name != "transfer_to_agent":
            await _own_call(tool.name, tool_context)
        outer = _SESSION.set(_SESSION.get() or _session_of(tool_context))
        try:
            return await original(tool, args=args, tool_context=tool_context)
        finally:
            _SESSION.reset(outer)

    tool.run_async = run_async
    setattr(tool, _WRAPPED, tool)


def _is_run(tool):
    if tool.name == "transfer_to_agent":
        return True
    own = [kind for kind in type(tool).__mro__ if kind.__module__.split(".")[:2] == ["google", "adk"]]
    if any(kind.__name__ in _RUN for kind in own):
        return True
    function = getattr(tool, "func", None)
    return getattr(function, "__name__", "") == "exit_loop" and function.__module__.startswith("google.adk.")


def _session_of(tool_context):
    session = tool_context.session
    return [session.user_id, session.id]


async def _own_call(name, tool_context):
    """Tells of a recorded call that no tool answers. A call of a tool that was not asked for is an error otherwise."""
    await _ask({"session": _SESSION.get() or _session_of(tool_context), "own": name})


async def _answer(name, args, tool_context):
    # Before the question, which may not come through.
    setattr(tool_context, _REACHED, True)
    session = _SESSION.get() or _session_of(tool_context)
    answer = await _ask({"session": session, "name": name, "args": args})
    for key, value in answer.get("state", {}).items():
        tool_context.state[key] = value
    if "response" in answer:
        return answer["response"]
    if "raises" in answer:
        raise RuntimeError(answer["raises"])
    raise RuntimeError(f"evalset: {answer.get('error', 'no answer')}")


async def _ask(question):
    reader, writer = await asyncio.open_connection(_DESK["host"], _DESK["port"], limit=_MOST_BYTES)
    try:
        writer.write(_line(question))
        await writer.drain()
        answer = await reader.read(-1)
    finally:
        writer.close()
    if not answer:
        raise RuntimeError("evalset: the connection to the golden tools broke off")
    return json.loads(answer)


def _line(question):
    return json.dumps({"token": _DESK["token"], **question}, default=str).encode() + b"\n"
