"""Random cases for `compare.py`, and what is worth drawing often."""

import math
import struct

WORDS = """the a an agent weather sunny city relate condition ration general oscillate control happy fly die
sky skies dying news inning outing proceed succeed howe agree feed plaster motor sing conflate trouble size hop tan
fall hiss fizz fail file digit confirm vietnam operate depend adjust homolog effect bowl cease probate rate roll
communism activate angular formal electric hope good allow inference replace adopt archaeolog geolog analog y yy ay
payment tie tied ties cry cries say says play employ enjoy""".split()
SUFFIXES = """s es ies ied ed eed ing ings ational tional enci anci izer bli alli entli eli ousli ization ation ator
alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic
able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize e ll y at bl iz ly fully ically ability""".split()
PUNCTUATION = [" ", " ", " ", " ", ", ", ". ", "-", "_", "'", "’", "\n", "\t", "/", " — ", "$", "…", "\u00a0", ""]
# Cases and forms that depend on their neighbours, and what sits at the edges of ADK's blocks.
ODDITIES = list(
    "ΣσςİIıßẞǅﬀﬁſKÅΩµªº½²①ⅧⅷＡｂ１ｶﾞ가각ㄱ각กำำາຳ฿๑ក្កᰀကြ်ー・゠゙゚\u0301\u0308\u0345\u0307\u200b\u200d\u00ad\ufe0f"
    "🅰👍🏽👨🎉𝔸𝟘𠀀㎏㍻ﷺ一鿿㐀豈々〇ⓐⒶ\u2019:·.\u0387\u055f\u2027^`\u00a8\u037a\u1fbd"
)
WEIRD_NUMBERS = [
    0, 0.0, -0.0, 1, 1.0, -1, 2, 0.1, 0.3, 0.1 + 0.2, 2**53, 2**53 + 1, float(2**53), 2**63 - 1, 2**63, float(2**63),
    -(2**63), -(2**63) - 1, 2**64, 10**30, 1e30, int(1e30), 1e308, int(1e308), 5e-324, 1e-7, 123456789.125,
    math.nan, math.inf, -math.inf,
]  # fmt: skip
WEIRD_STRINGS = ["", "1", "1.0", "true", "null", "a", "a ", "A", "é", "e\u0301", "Paris", "東京", "\u0000", "👍"]


class Drawer:
    """Draws cases of each kind from a random source and the characters that both sides know."""

    def __init__(self, random, assigned):
        self.random = random
        self.assigned = assigned
        ends = [(last + 1, first - 1) for (_, last), (first, _) in zip(assigned, assigned[1:])]
        self.gaps = [(first, last) for first, last in [*ends, (assigned[-1][1] + 1, 0x10FFFF)] if first <= last]

    # Texts

    def word(self):
        draw = self.random
        if draw.random() < 0.2:
            return "".join(draw.choice("aeiouybcdlstnzxw0129") for _ in range(draw.randint(1, 12)))
        word = draw.choice(WORDS)
        for _ in range(draw.choice([0, 1, 1, 1, 2])):
            word += draw.choice(SUFFIXES)
        return word

    def prose(self):
        draw = self.random
        cases = [str, str, str.upper, str.title]
        words = (draw.choice(cases)(self.word()) + draw.choice(PUNCTUATION) for _ in range(draw.randint(0, 25)))
        return "".join(words)

    def script(self):
        """Neighbouring characters of a block, so that small scripts come as often as large ones."""
        draw = self.random
        first, last = draw.choice(self.assigned)
        start = draw.randint(first, last)
        near = range(max(first, start - 40), min(last, start + 40) + 1)
        return "".join(chr(draw.choice(near)) for _ in range(draw.randint(1, 12)))

    def text(self):
        draw = self.random
        if draw.random() < 0.3:
            return self.prose()
        pieces = [self.script, self.word, lambda: draw.choice(ODDITIES), lambda: draw.choice(PUNCTUATION)]
        return "".join(draw.choice(pieces)() for _ in range(draw.randint(0, 12)))

    def unassigned(self):
        """A text with a character that the Python does not know, or knows otherwise; beside it the character."""
        draw = self.random
        while True:
            first, last = draw.choice(self.gaps)
            code = draw.randint(first, draw.choice([last, min(last, first + 40)]))
            if not 0xD800 <= code <= 0xDFFF:
                break
        c = chr(code)
        return [draw.choice([f"a{c}b {c} run{c}", f"{self.word()}{c}{self.word()}", f"aΣ{c} 가{c}ส{c}", f"{c}{self.text()}"]), c]

    def similar(self, text):
        """A text that shares much with another."""
        draw = self.random
        parts = text.split(" ")
        draw.shuffle(parts)
        parts = [part for part in parts if draw.random() < 0.8]
        return " ".join(parts + ([self.text()] if draw.random() < 0.3 else []))

    def pair(self):
        text = self.text()
        return [text, self.similar(text) if self.random.random() < 0.8 else self.text()]

    def ascii_pair(self):
        """Two texts that share words and their order in parts."""
        draw = self.random
        words = [self.word() for _ in range(draw.randint(1, 6))]

        def sentence():
            cases = [str, str, str.upper, str.title]
            ends = [end for end in PUNCTUATION if end.isascii()]
            return [draw.choice(cases)(draw.choice(words)) + draw.choice(ends) for _ in range(draw.randint(0, 12))]

        expected = sentence()
        actual = [word for word in expected if draw.random() < 0.8] if draw.random() < 0.6 else sentence()
        while draw.random() < 0.3:
            actual.insert(draw.randint(0, len(actual)), draw.choice(["not ", self.word() + " ", "42 ", "$"]))
        return ["".join(expected), "".join(actual)]

    # Calls

    def value(self, depth=0):
        draw = self.random
        kind = draw.random()
        if depth < 3 and kind < 0.15:
            return [self.value(depth + 1) for _ in range(draw.randint(0, 3))]
        if depth < 3 and kind < 0.35:
            return self.object(depth + 1)
        if kind < 0.6:
            return draw.choice(WEIRD_NUMBERS)
        return draw.choice([True, False, None, draw.choice(WEIRD_STRINGS), draw.randint(-5, 5)])

    def object(self, depth=0):
        keys = self.random.sample(["x", "y", "city", "é", ""], self.random.randint(0, 3))
        return {key: self.value(depth) for key in keys}

    def disguised(self, value):
        """A value that is equal in Python, or nearly."""
        draw = self.random
        if isinstance(value, dict):
            items = [(key, self.disguised(item)) for key, item in value.items()]
            draw.shuffle(items)
            return dict(items)
        if isinstance(value, list):
            return [self.disguised(item) for item in value]
        if isinstance(value, (bool, int, float)) and draw.random() < 0.5:
            twins = [other for other in [True, False, *WEIRD_NUMBERS] if other == value or float(other) == float(value)]
            return draw.choice(twins) if twins else value
        return draw.choice(WEIRD_STRINGS) if draw.random() < 0.02 else value

    def call(self):
        draw = self.random
        call = {"name": draw.choice("ffgh"), "args": self.object()}
        if draw.random() < 0.1:
            call["args"] = draw.choice([{}, None])
        for key in ("name", "args"):
            if draw.random() < 0.05:
                del call[key]
        if draw.random() < 0.2:
            call["id"] = str(draw.random())
        return call

    def turn(self, calls):
        draw = self.random
        if draw.random() < 0.5:
            data = {"tool_uses": calls}
        else:
            events, rest = [], calls
            while rest:
                count = draw.randint(1, len(rest))
                parts = [{"function_call": call} for call in rest[:count]]
                events.append({"author": "agent", "content": {"parts": parts}})
                rest = rest[count:]
            data = {"invocation_events": events}
        return {"user_content": {}, "intermediate_data": data}

    def rerun(self, calls):
        """What an agent may have called instead."""
        draw = self.random
        calls = [dict(call) for call in calls]
        for call in calls:
            if call.get("args"):
                call["args"] = self.disguised(call["args"])
        if draw.random() < 0.3:
            draw.shuffle(calls)
        while calls and draw.random() < 0.15:
            calls.pop(draw.randrange(len(calls)))
        while draw.random() < 0.3:
            calls.insert(draw.randint(0, len(calls)), self.call())
        return calls

    def trajectories(self):
        draw = self.random
        expected = [[self.call() for _ in range(draw.choice([0, 1, 1, 2, 3, 5]))] for _ in range(draw.randint(1, 4))]
        criterion = {"threshold": 1.0}
        if draw.random() < 0.7:
            spelling = draw.choice(["match_type", "matchType"])
            criterion[spelling] = draw.choice([0, 1, 2, "EXACT", "IN_ORDER", "ANY_ORDER", "in_order", "Any_Order"])
        if draw.random() < 0.3:
            criterion[draw.choice(["ignore_args", "ignoreArgs"])] = draw.choice([True, False])
        return {
            "metric": "tool_trajectory_avg_score",
            "criterion": criterion,
            "expected_invocations": [self.turn(calls) for calls in expected],
            "actual_invocations": [self.turn(self.rerun(calls)) for calls in expected],
        }

    def responses(self):
        draw = self.random
        pairs = [self.pair() for _ in range(draw.randint(1, 3))]

        def answer(text):
            parts = [{"text": piece} for piece in text.split("x", 2)]
            if draw.random() < 0.2:
                parts.insert(0, {"text": "thinking", "thought": True})
            response = None if draw.random() < 0.05 else {"parts": parts}
            return {"user_content": {}, "final_response": response}

        return {
            "metric": "response_match_score",
            "criterion": 0.8,
            "expected_invocations": [answer(expected) for expected, _ in pairs],
            "actual_invocations": [answer(actual) for _, actual in pairs],
        }

    # Cost

    def count(self):
        return self.random.choice([None, None, 0, 1, self.random.randint(0, 5000), self.random.randint(0, 2**60)])

    def event(self):
        draw = self.random
        event = {"author": "agent"}
        if draw.random() < 0.7:
            counts = "prompt candidates total cached_content thoughts tool_use_prompt".split()
            event["usage_metadata"] = {f"{name}_token_count": self.count() for name in counts}
        if draw.random() < 0.3:
            event["model_version"] = draw.choice([None, "", "m"])
        return event

    def seconds(self):
        draw = self.random
        tie = draw.randint(0, 64) / 16 + draw.randint(0, 3)
        return draw.choice([None, tie, draw.random(), draw.random() * 100, round(draw.random(), 4), 0.0, 1e-9, 1e9])

    def usage(self):
        draw = self.random
        turns = []
        for _ in range(draw.randint(1, 6)):
            turn = self.turn([self.call() for _ in range(draw.randint(0, 3))])
            events = turn["intermediate_data"].get("invocation_events")
            if events is not None:
                events += [self.event() for _ in range(draw.randint(0, 4))]
            turn |= {key: self.seconds() for key in ("duration", "model_duration", "tool_duration")}
            turns.append({key: item for key, item in turn.items() if item is not None})
        names = ["tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1"]
        return {"metric": draw.choice(names), "actual_invocations": turns}

    # Recorded events

    def part(self):
        draw = self.random
        call = {"name": draw.choice("fg"), "args": draw.choice([{}, {"x": 1}])}
        response = {"name": draw.choice("fg"), "response": {"r": 1}}
        return draw.choice([
            {"text": draw.choice(["Let me see.", "Done.", "é"])},
            {"text": "Done."},
            {"text": "hm", "thought": True},
            {"function_call": call},
            {"function_response": response},
            {"inline_data": {"mime_type": "image/png", "data": "aGVsbG8="}},
            {"executable_code": {"code": "1", "language": "PYTHON"}},
            {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}},
        ])  # fmt: skip

    def events(self):
        """What an agent recorded in one turn. No content is empty: here that is no answer, and an error."""
        draw = self.random
        events = []
        for _ in range(draw.randint(0, 6)):
            event = {"author": draw.choice(["agent", "agent", "agent", "helper", "user", "USER"])}
            if draw.random() < 0.9:
                event["content"] = {"parts": [self.part() for _ in range(draw.choice([1, 1, 1, 2]))], "role": "model"}
            if draw.random() < 0.3:
                event[draw.choice(["partial", "skip_summarization", "long_running"])] = True
            if draw.random() < 0.3:
                event["usage_metadata"] = {"prompt_token_count": draw.randint(0, 9)}
            if draw.random() < 0.2:
                event["model_version"] = "m"
            if draw.random() < 0.1:
                event["grounding_metadata"] = {"web_search_queries": ["q"]}
            events.append(event)
        return events

    # Numbers

    def bits(self):
        """A float of any size, the smallest ones too."""
        while True:
            number = struct.unpack("<d", self.random.randbytes(8))[0]
            if math.isfinite(number):
                return number

    def numbers(self):
        draw = self.random
        near = self.bits()
        kinds = [
            draw.random,
            lambda: draw.randint(0, 12) / draw.randint(1, 12),
            lambda: float(draw.random() < 0.5),
            lambda: near * draw.choice([1, -1, 0.5, 1 + 2**-52]),
            lambda: 2.0 ** draw.randint(-1074, 1023),
            self.bits,
            lambda: draw.randint(-9, 9) * 5e-324,
            lambda: draw.choice([math.nan, math.inf, -math.inf, -0.0]),
        ]
        kinds = draw.sample(kinds, draw.randint(1, 3)) if draw.random() < 0.5 else kinds[:2]
        return [draw.choice(kinds)() for _ in range(draw.randint(1, 20))]

    def decimal(self):
        draw = self.random
        kinds = [self.bits, lambda: draw.randint(-10**6, 10**6) / 16, draw.random, lambda: draw.randint(0, 10**7) / 10**4]
        return draw.choice(kinds)() * draw.choice([1, 1, 1, 10**6, 1e-3])
