"""Agents in Python, tested with eval sets.

`python -m evalset MODULE:OBJECT` runs an agent as a program that the command `evalset` talks to. `serve(agent)` does the
same at the end of a script. An agent is an object of a framework, a function, or a class with one instance for each
conversation.
"""

from ._configured import with_options
from ._server import serve
from ._tools import tool
from .turn import Session, Turn

__all__ = ["Session", "Turn", "serve", "tool", "with_options"]
