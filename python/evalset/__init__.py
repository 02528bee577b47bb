"""Agents and metrics in Python, for eval sets.

`python -m evalset MODULE:OBJECT` runs an agent as a program that the command `evalset` talks to. `serve(agent)` does the
same at the end of a script. An agent is an object of a framework, a function, or a class with one instance for each
conversation. `@evalset.metric` makes a metric of a function.
"""

from typing import Any

from ._configured import with_options
from ._tools import tool
from .metric import Call, Metric, Result, Run, RunTurn, Scored, metric
from .turn import Session, Turn

__all__ = [
    "Call",
    "Metric",
    "Result",
    "Run",
    "RunTurn",
    "Scored",
    "Session",
    "Turn",
    "metric",
    "serve",
    "tool",
    "with_options",
]


def serve(agent: Any) -> None:
    """Serves an agent to `evalset run --agent-cmd 'python agent.py'`, until the input ends.

    The agent is an object of pydantic-ai, openai-agents, LangChain, LangGraph or google-adk, a function, or a class.
    """
    # Tools and traces need none of it.
    from ._server import serve as serve_object

    serve_object(agent)
