"""Values of Python as values of JSON."""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import math
import re
from collections.abc import Mapping, Set
from typing import Any

from ._errors import AgentError

# The end of how Python shows an object that has no text. It differs from run to run. Its begin, `<`, is looked for apart: a pattern
# with both takes a time quadratic in the number of them.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+>")


def plain(value: Any) -> Any:
    """A value made of what JSON has: objects of pydantic, dataclasses, tuples, sets, times and the like become plain ones."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        # JSON has no such numbers.
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        # The order of a set differs from run to run.
        return sorted((plain(item) for item in value), key=json.dumps)
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, type):
        return value.__qualname__
    # Numbers and arrays of numpy and the like: as text, a long array would lack its middle.
    if callable(getattr(value, "tolist", None)):
        return plain(value.tolist())
    if callable(getattr(value, "model_dump", None)):
        return plain(value.model_dump(mode="json"))
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if callable(getattr(value, "isoformat", None)):
        return str(value.isoformat())
    return str(value)


def whole(value: str) -> str:
    """A text without halves of characters, which Python's texts can have and UTF-8 cannot."""
    try:
        value.encode()
        return str(value)
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def as_text(value: Any) -> str:
    """An answer as text: a text is itself, anything else its JSON."""
    if isinstance(value, str):
        return str(value)
    text = json.dumps(plain(value), ensure_ascii=False)
    begin = text.find("<")
    if begin >= 0 and ADDRESS.search(text, begin):
        shown = ADDRESS.sub(">", text)[:80]
        raise AgentError(
            f"the answer is a `{type(value).__name__}` that JSON cannot show: {shown}; return a text, "
            "a dictionary, a dataclass or an object of pydantic"
        )
    return text


def as_object(value: Any) -> dict[str, Any]:
    """The result of a tool as the object that ADK's responses are."""
    result = plain(value)
    return result if isinstance(result, dict) else {"result": result}


def arguments(value: Any) -> dict[str, Any]:
    """The arguments of a call, which some models give as text. A text that is no object is kept as it is."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except ValueError:
            return {"arguments": value}
    result = {} if value is None else plain(value)
    return result if isinstance(result, dict) else {"arguments": result}


def is_same_json(text: str, value: Any) -> bool:
    """Whether a text is the JSON of a value."""
    try:
        return bool(json.loads(text) == plain(value))
    except ValueError:
        return False
