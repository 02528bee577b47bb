"""Calls of tools that a framework runs at the same time."""

from __future__ import annotations

from typing import Any

from .._parts import result_part
from ..turn import Turn


class Calls:
    """The open calls of a turn. Results are recorded in the order of the calls, so that a fast tool changes nothing."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        # Names and agents by the ids of the calls, in the order of the calls.
        self._open: dict[str, tuple[str, str | None]] = {}
        self._results: dict[str, Any] = {}

    def ask(self, id: str, name: str, author: str | None) -> None:
        """Adds a call."""
        self._open[id] = (name, author)

    def answer(self, id: str | None, result: Any) -> None:
        """Takes the result of a call. The first result of a call counts."""
        if id in self._open and id not in self._results:
            self._results[id] = result
            while self._open and (first := next(iter(self._open))) in self._results:
                self._record(first)

    def first(self) -> str | None:
        """The first call without a result."""
        return next((id for id in self._open if id not in self._results), None)

    def check(self) -> None:
        """Makes the turn an error if a call has no result: its tool may never have run."""
        id = self.first()
        if id is not None:
            self._turn.fail(
                f"the call of the tool `{self._open[id][0]}` had no result when its turn ended: no tool answered it, such as a "
                "`ToolNode`"
            )

    def flush(self) -> None:
        """Records the results that wait for the result of an earlier call."""
        for id in [id for id in self._open if id in self._results]:
            self._record(id)

    def has(self, id: str | None) -> bool:
        return id in self._open

    def _record(self, id: str) -> None:
        name, author = self._open.pop(id)
        self._turn.results([result_part(id, name, self._results.pop(id))], author=author)
