"""Metrics that are functions of Python, as programs of agentevals' protocol for evaluators.

```python
import evalset


@evalset.metric
def brevity(run: evalset.Run) -> bool:
    return all(len((turn.answer or "").split()) <= run.options["max_words"] for turn in run.turns)


if __name__ == "__main__":
    brevity.serve()
```
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import math
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from ._json import plain
from ._streams import Lines


@dataclass(frozen=True)
class Call:
    """A tool call of the agent."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True)
class Result:
    """What a tool returned."""

    name: str
    response: Any = None
    id: str | None = None


@dataclass(frozen=True)
class RunTurn:
    """A turn of a run, or a turn that the case expects."""

    message: str = ""
    answer: str | None = None
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    id: str = ""


@dataclass(frozen=True)
class Run:
    """A run of a case, which a metric scores."""

    turns: list[RunTurn]
    expected: list[RunTurn] | None = None
    """The turns that the case expects; None if it expects nothing."""
    options: dict[str, Any] = field(default_factory=dict)
    """The keys of the criterion, without its threshold."""
    threshold: float = 0.5
    metric: str = ""


@dataclass(frozen=True)
class Scored:
    """A score with more to say about it."""

    score: float
    """From 0 to 1."""
    turns: Sequence[float | None] = ()
    """A score for each turn, for people: the score above decides."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Why it is so, by names."""


Answer = Union[Scored, float, bool, None, Sequence[Union[float, bool, None]]]
"""What a metric returns: a score from 0 to 1, a bool, a score for each turn, whose mean decides, or None for no score."""


class Metric:
    """A metric that a function computes. It can be called as the function is."""

    def __init__(self, function: Callable[[Run], Answer | Awaitable[Answer]]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, run: Run) -> Any:
        return self._function(run)

    def serve(self) -> None:
        """Answers questions until the input ends, or ends the program with 1 at an error of the function.

        What the function prints goes to standard error.
        """
        lines = Lines.take_over()
        try:
            for question in _questions(lines):
                lines.write(self._reply(question))
        except Exception:
            traceback.print_exc()
            sys.exit(1)

    def _reply(self, question: Mapping[str, Any]) -> dict[str, Any]:
        run = _run(question)
        found = self._function(run)
        reply = _reply(asyncio.run(_awaited(found)) if inspect.isawaitable(found) else found, run)
        # With this key the program is kept for further questions. Others of this protocol pass over it.
        reply["_reads_lines"] = True
        if "_id" in question:
            reply["_id"] = question["_id"]
        return reply


def metric(function: Callable[[Run], Answer | Awaitable[Answer]]) -> Metric:
    """Makes a metric of a function that takes a run and returns its score. The function may be async."""
    return Metric(function)


async def _awaited(found: Awaitable[Answer]) -> Answer:
    return await found


def _questions(lines: Lines) -> Iterator[Mapping[str, Any]]:
    """The questions: one in each line, or a single one over several lines, as a person may write it."""
    is_first = True
    with open(lines.source, "rb") as source:
        for line in source:
            if not line.strip():
                continue
            try:
                question = json.loads(line)
            except ValueError:
                if not is_first:
                    raise
                question = json.loads(line + source.read())
            is_first = False
            if not isinstance(question, dict):
                raise TypeError(f"a question is an object, not {type(question).__name__}")
            yield question
    if is_first:
        raise ValueError("there is no question on standard input; `evalset run` writes one")


def _run(question: Mapping[str, Any]) -> Run:
    expected = question.get("expected_invocations")
    return Run(
        turns=[_turn(turn) for turn in question.get("invocations") or []],
        expected=None if expected is None else [_turn(turn) for turn in expected],
        options=dict(question.get("config") or {}),
        threshold=question.get("threshold", 0.5),
        metric=question.get("metric_name") or "",
    )


def _turn(turn: Mapping[str, Any]) -> RunTurn:
    steps = turn.get("intermediate_steps") or {}
    return RunTurn(
        message=turn.get("user_content") or "",
        answer=turn.get("final_response"),
        calls=[Call(call["name"], call.get("args") or {}, call.get("id")) for call in steps.get("tool_calls") or []],
        results=[
            # The version 1.0 of the protocol has the text alone.
            Result(result["name"], result["response"] if "response" in result else result.get("output"), result.get("id"))
            for result in steps.get("tool_responses") or []
        ],
        id=turn.get("invocation_id") or "",
    )


def _reply(answer: Answer, run: Run) -> dict[str, Any]:
    if answer is None:
        return {"score": 0.0, "status": "NOT_EVALUATED"}
    if isinstance(answer, (bool, int, float)):
        answer = Scored(answer)
    elif isinstance(answer, Sequence) and not isinstance(answer, (str, bytes)):
        scores = [score for score in answer if score is not None]
        if not scores:
            return {"score": 0.0, "status": "NOT_EVALUATED", "per_invocation_scores": list(answer)}
        answer = Scored(sum(_number(score) for score in scores) / len(scores), turns=answer)
    if not isinstance(answer, Scored):
        raise TypeError(f"a metric returns a number, a bool, a list of them, `evalset.Scored` or None, not {answer!r}")
    score = _number(answer.score)
    if not 0 <= score <= 1:
        raise ValueError(f"the score {score} is not from 0 to 1")
    if answer.turns and len(answer.turns) != len(run.turns):
        raise ValueError(f"{len(answer.turns)} scores for {len(run.turns)} turns")
    return {
        "score": score,
        "per_invocation_scores": [None if turn is None else _number(turn) for turn in answer.turns],
        "details": plain(answer.notes) or None,
    }


def _number(score: Any) -> float:
    if not isinstance(score, (bool, int, float)) or not math.isfinite(score):
        raise ValueError(f"the score {score!r} is no finite number")
    return float(score)
