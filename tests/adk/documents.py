"""Random eval sets as text: most of them valid, some nearly so.

Drawn from google-adk's own models, so that every field of every model comes up, and then changed in a
few places. Runs in a Python that has google-adk.
"""

import enum
import json
import random
import types
import typing

from google.adk.evaluation.eval_case import EvalCase
from google.adk.evaluation.eval_rubrics import Rubric, RubricContent
from google.adk.evaluation.eval_set import EvalSet
from pydantic import BaseModel

TEXTS = ["", "a", "hi there", "é", "e\u0301", "東京", "👍🏽", "\u202eRTL", "line\nbreak\t", "\u0000", "\ufeff", "0", "true", " x "]
NUMBERS = """0 -0 0.0 -0.0 1 2 -1 0.1 5.0 1e3 1E+2 1e-7 1e15 1e16 1e22 1e-5 0.0001 1e-400 1e400 -1e400 NaN Infinity
-Infinity 9007199254740993 18446744073709551616 -9223372036854775809 123456789012345678901234567890 1e19 5e-324
1.7976931348623157e308 1747340865.7043095 920848214828533.25 3.0000000000000000001""".split()
# What pydantic reads as a number, a flag or bytes, and what nearly looks so.
IN_QUOTES = """1 5.0 1e3 .5 5. 1. +5 -5 +-5 -_5 0-5 007 00 0_1 1_000 1__0 1_ 1._5 1e_5 ._5 0x5 nan -inf Infinity infinit
yes Off T maybe aGVsbG8= aGVsbG8 aGVsbG8== YQ= YR== +A_A _-8= /+8= a !! AAAA= python SOMETHING ß""".split()
BLANKS = [" 1", "1 ", "\n2.5", " 1_0", "1\u2003", "\u00a01", "1\x1f", "\x0b1", "１", "٣", " true"]
BROKEN = ["01", "+1", ".5", "1.", "nan", "'a'", '"\\ud800"', '"\\x"', '"a\tb"', "[1,]", "{,}", "1 // one", ""]
KEYS = ["x", "city", "é", "", "_k", "evalId", "final_response", "user:name", "app:mode", "temp:x"]


class Raw(str):
    """JSON text as it stands."""


class Entries(list):
    """The entries of an object whose keys need not differ."""


def text_of(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, (dict, Entries)):
        entries = value.items() if isinstance(value, dict) else value
        return "{" + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {text_of(item)}" for key, item in entries) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def camel(key):
    first, *rest = key.split("_")
    return first + "".join(word.capitalize() for word in rest)


def snake(key):
    return "".join("_" + c.lower() if c.isupper() else c for c in key)


class Documents:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ids = 0

    def document(self):
        document = self.model(EvalSet)
        for _ in range(self.random.choice([0, 0, 1, 1, 2, 3])):
            document = self.changed(document)
        return text_of(document)

    # From the models

    def model(self, model, depth=0):
        draw = self.random
        if model is RubricContent:
            return {draw.choice(["text_property", "textProperty"]): draw.choice(["It is polite.", "It is kind.", ""])}
        fields = list(model.model_fields.items())
        often = 0.6 if len(fields) < 9 else 3 / len(fields)
        document = {}
        for name, field in draw.sample(fields, len(fields)) if draw.random() < 0.3 else fields:
            if name in ("conversation", "conversation_scenario") or not field.is_required() and draw.random() > often:
                continue
            key = field.alias if field.alias and draw.random() < 0.5 else name
            document[key] = self.field(model, name, field, depth + 1)
        if model is EvalCase:
            name = "conversation" if draw.random() < 0.85 else "conversation_scenario"
            key = draw.choice([name, camel(name)])
            document[key] = self.said(lambda: self.value(model.model_fields[name].annotation, depth))
        if model is Rubric and draw.random() < 0.8:
            document["type"] = draw.choice(["FINAL_RESPONSE_QUALITY", "TOOL_USE_QUALITY", "TRAJECTORY_QUALITY", "TONE"])
        return document

    def field(self, model, name, field, depth):
        if name in ("eval_id", "rubric_id"):
            self.ids += 1
            return f"id {self.ids}"
        if name in ("starting_prompt", "conversation_plan"):
            return self.random.choice(["say something", "é", ""])
        if name == "eval_cases":
            return self.said(lambda: self.value(field.annotation, depth))
        value = self.value(field.annotation, depth)
        # A persona may be named too; ADK writes out what it says then, and the name stays here.
        return None if name == "user_persona" and isinstance(value, str) else value

    def said(self, draw):
        """What is drawn, once it is something: what tests nothing is an error here, whatever else it says."""
        value = None
        while not value:
            value = draw()
        return value

    def value(self, kind, depth):
        draw = self.random
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            kinds = [each for each in inner if each is not type(None)]
            return None if len(kinds) < len(inner) and draw.random() < 0.1 else self.value(draw.choice(kinds), depth)
        if origin is tuple:
            return [self.value(each, depth + 1) for each in inner]
        if origin is dict:
            return {key: self.value(inner[1], depth + 1) for key in draw.sample(KEYS, draw.randint(0, 2))}
        if origin is typing.Literal:
            return draw.choice(inner)
        if origin is not None:
            return [self.value(inner[0], depth + 1) for _ in range(draw.choice([0, 1, 1, 2] if depth < 12 else [0]))]
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return self.model(kind, depth)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            member = draw.choice(list(kind)).value
            return draw.choice([member, member.lower(), "SOMETHING_NEW", "é"])
        return self.scalar(kind)

    def scalar(self, kind):
        draw = self.random
        scalars = {
            str: TEXTS,
            bool: [True, False, 0, 1, Raw("1.0"), "yes", "Off", "T"],
            int: [0, 1, -3, True, 2**70, Raw("5.0"), Raw("1e3"), Raw("-0"), "5", " 7 ", "5.0", "1_000"],
            float: [1, 1.5, True, "1.5", " 2 ", "1e3", "nan", "-inf", "5.", Raw(draw.choice(NUMBERS))],
            bytes: ["", "aGVsbG8=", "aGVsbG8", "_-8=", "/+8=", "YQ="],
        }
        if kind in scalars and kind is not str and draw.random() < 0.05:
            return draw.choice(IN_QUOTES + BLANKS)
        return draw.choice(scalars[kind]) if kind in scalars else self.anything()

    def anything(self, depth=0):
        draw = self.random
        if depth < 3 and draw.random() < 0.4:
            items = [self.anything(depth + 1) for _ in range(draw.randint(0, 3))]
            return items if draw.random() < 0.4 else dict(zip(draw.sample(KEYS, 3), items))
        return draw.choice([None, True, False, draw.choice(TEXTS), Raw(draw.choice(NUMBERS))])

    # Changes

    def changed(self, document):
        draw = self.random
        root = [document]
        holder, key = draw.choice(list(places(root)))
        value = holder[key]
        if isinstance(value, dict) and value and draw.random() < 0.6:
            holder[key] = self.changed_object(value)
        elif type(value) is list and value and draw.random() < 0.4:
            at = draw.randrange(len(value))
            holder[key] = draw.choice([value[:at] + value[at + 1 :], [*value, value[at]], [*value, self.stray()]])
        else:
            holder[key] = self.stray()
        return root[0]

    def changed_object(self, value):
        draw = self.random
        key = draw.choice(list(value))
        twin = camel(key) if camel(key) != key else snake(key)
        names = [twin, f"{key}x", key.upper(), f"_{key}", key.replace("_", ""), key[:-1], "unknown", f"{key} "]
        name = draw.choice(names)
        return draw.choice([
            {each: item for each, item in value.items() if each != key},
            {name if each == key else each: item for each, item in value.items()},
            {**value, draw.choice(["unknown", "_comment", "invocationIndex", "id", "text"]): self.anything()},
            {**value, twin: draw.choice([None, value[key]])},
            {**value, key: None},
            Entries([*value.items(), (key, self.stray())]),
        ])  # fmt: skip

    def stray(self):
        draw = self.random
        common = [None, True, False, 0, 1, 2, 1.5, "", "x", [], {}, [[]], [{}], [""], {"a": 1}, {"text": "x"}]
        other = [Raw(draw.choice(NUMBERS)), draw.choice(IN_QUOTES), draw.choice(IN_QUOTES), draw.choice(BLANKS)]
        return draw.choice([draw.choice(common), *other, Raw(draw.choice(BROKEN))])


def places(holder):
    """Every place in a value, as what holds it and the key or position there."""
    for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
        yield holder, key
        if type(holder[key]) in (dict, list):
            yield from places(holder[key])
