"""Messages of the user, as frameworks take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._errors import AgentError


@dataclass(frozen=True)
class File:
    """An image, a sound or another file in a message."""

    mime_type: str
    data: str
    """In base64."""

    @property
    def url(self) -> str:
        return f"data:{self.mime_type};base64,{self.data}"

    @property
    def family(self) -> str:
        """`image`, `audio`, `video`, or another first half of the type."""
        return self.mime_type.partition("/")[0]


def parts_of(content: dict[str, Any]) -> list[str | File]:
    """The texts and files of a message. A part of another kind is an error, and is not left out."""
    found: list[str | File] = []
    for part in content.get("parts") or []:
        file = part.get("inlineData")
        others = part.keys() - {"text", "inlineData", "thought"}
        if others:
            raise AgentError(
                f"the user's message has a part `{min(others)}`, which this kind of agent cannot be given; an agent that is a "
                "function with a second parameter `turn` reads it in `turn.content`"
            )
        if file:
            found.append(File(file.get("mimeType") or "application/octet-stream", file.get("data") or ""))
        elif part.get("text"):
            found.append(part["text"])
    return found


def has_base(value: Any, module: str, names: set[str]) -> bool:
    """Whether the type of a value, or one above it, has one of these names in a package."""
    for base in type(value).__mro__:
        if base.__name__ in names and (base.__module__ == module or base.__module__.startswith(f"{module}.")):
            return True
    return False
