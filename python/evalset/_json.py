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
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+>| id='\d+'>")
# The whole of it.
OBJECT = re.compile(r"<[\w.<>]+ object at 0x[0-9a-fA-F]+>")


class Shown(str):
    """The text of an object that has no value of JSON."""


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
        return _object(value)
    if isinstance(value, Set):
        # The order of a set differs from run to run.
        return sorted((plain(item) for item in value), key=json.dumps)
    if _has(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, type):
        return value.__qualname__
    # Numbers and arrays of numpy and the like: as text, a long array would lack its middle.
    if _has(value, "tolist"):
        return plain(value.tolist())
    if _has(value, "model_dump"):
        return plain(value.model_dump(mode="json"))
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if _has(value, "isoformat"):
        return str(value.isoformat())
    return Shown(value)


def _object(value: Mapping[Any, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, item in value.items():
        name = str(plain(key))
        # One of the two values would be lost.
        if name in made:
            raise AgentError(f"a dictionary has two keys that JSON writes as `{name}`; one of them is a `{type(key).__name__}`")
        made[name] = plain(item)
    return made


def _has(value: Any, name: str) -> bool:
    """Whether the class has a method. An instance, such as a mock, may make it up."""
    return callable(getattr(type(value), name, None))


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
    if isinstance(value, (bytes, bytearray)):
        raise AgentError("the answer is `bytes`, and an answer is text; return `answer.decode()`")
    text = json.dumps(plain(value), ensure_ascii=False)
    begin = text.find("<")
    if begin >= 0 and ADDRESS.search(text, begin):
        raise _not_shown("the answer", value, text)
    return text


def _not_shown(what: str, value: Any, text: str) -> AgentError:
    return AgentError(
        f"{what} is a `{type(value).__name__}` that JSON cannot show: {ADDRESS.sub('>', text)[:80]}; return a text, "
        "a dictionary, a dataclass or an object of pydantic"
    )


def _has_address(value: Any) -> bool:
    """Whether an object is shown by its address. A text may speak of one, such as the message of an error."""
    if isinstance(value, (dict, list)):
        return any(map(_has_address, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Shown) and ADDRESS.search(value) is not None


def as_state(value: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a session, which JSON can show."""
    state = _object(value)
    for key, item in state.items():
        if _has_address(item):
            shown = json.dumps(item, ensure_ascii=False)
            raise _not_shown(f"the value of the session state under `{key}`", value[key], shown)
    return state


def as_object(value: Any, tool: str) -> dict[str, Any]:
    """The result of a tool as the object that ADK's responses are."""
    result = plain(value)
    # Frameworks make texts of objects.
    if _has_address(result) or (isinstance(result, str) and OBJECT.fullmatch(result)):
        raise _not_shown(f"the result of the tool `{tool}`", value, json.dumps(result, ensure_ascii=False))
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
