"""Parts of ADK's events, and their tokens."""

from __future__ import annotations

from typing import Any

from ._json import arguments, as_object


def call_part(id: str | None, name: str, args: Any) -> dict[str, Any]:
    """The part of a call."""
    return {"functionCall": {**({"id": id} if id else {}), "name": name, "args": arguments(args)}}


def result_part(id: str | None, name: str, result: Any) -> dict[str, Any]:
    """The part of a result."""
    return {"functionResponse": {**({"id": id} if id else {}), "name": name, "response": as_object(result, name)}}


def tokens(
    input: int | None, output: int | None, *, thoughts: int | None = None, cached: int | None = None
) -> dict[str, int] | None:
    """The tokens of a model call in Gemini's terms, where the thoughts are apart from the output."""
    if input is None and output is None:
        return None
    answer = (output or 0) - (thoughts or 0)
    if answer < 0:
        # The provider counts thoughts beside the output.
        answer = output or 0
    usage = {"promptTokenCount": input or 0, "candidatesTokenCount": answer}
    usage |= {"thoughtsTokenCount": thoughts} if thoughts else {}
    usage |= {"cachedContentTokenCount": cached} if cached else {}
    return {**usage, "totalTokenCount": (input or 0) + answer + (thoughts or 0)}
