"""Values of the protocol and lines of files that frameworks and disks decide about."""

import collections
import datetime
import json
import os
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evalset._command import EvalsetError, run_command
from evalset._errors import AgentError
from evalset._json import as_object, as_state, as_text
from evalset._parts import tokens

Pair = collections.namedtuple("Pair", ["left", "right"])


class Values(unittest.TestCase):
    def test_thoughts_are_counted_apart_from_the_answer(self):
        for output, thoughts, counted in [
            (10, None, {"candidatesTokenCount": 10, "totalTokenCount": 15}),
            (10, 4, {"candidatesTokenCount": 6, "thoughtsTokenCount": 4, "totalTokenCount": 15}),
            # Beside the output.
            (3, 4, {"candidatesTokenCount": 3, "thoughtsTokenCount": 4, "totalTokenCount": 12}),
        ]:
            self.assertEqual(tokens(5, output, thoughts=thoughts), {"promptTokenCount": 5, **counted})

    def test_an_answer_may_have_many_tags_and_no_address_of_an_object(self):
        page = {"html": "<td>x</td>\n" * 20_000}
        self.assertEqual(json.loads(as_text(page)), page)
        # What is no address of an object.
        self.assertEqual(as_text(["a dump at 0x1f> of", "<td>"]), '["a dump at 0x1f> of", "<td>"]')
        with self.assertRaisesRegex(AgentError, "is a `list` that JSON cannot show: .*<object object>"):
            as_text(["<td>", object()])

    def test_a_result_of_a_tool_has_no_address_of_an_object(self):
        class Made:
            def model_dump(self, mode):
                return {"made": mode}

        for result, expected in [
            (Made(), {"made": "json"}),
            ({"at": datetime.date(2026, 1, 2)}, {"at": "2026-01-02"}),
            (Pair(1, 2), {"left": 1, "right": 2}),
            # Texts that speak of an object.
            ({"error": f"ValueError: {object()}"}, None),
            (f"It is {object()}.", None),
        ]:
            made = as_object(result, "look")
            self.assertEqual(made, made if expected is None else expected)
        for result, kind in [
            (object(), "object"),
            ({"found": [object()]}, "dict"),
            (str(object()), "str"),
            (mock.MagicMock(), "MagicMock"),
            ([mock.Mock(name="m")], "list"),
        ]:
            with self.assertRaisesRegex(AgentError, f"the result of the tool `look` is a `{kind}` that JSON cannot show: ") as raised:
                as_object(result, "look")
            self.assertNotRegex(str(raised.exception), "0x|[0-9]{6}")

    def test_no_value_of_a_dictionary_is_lost(self):
        with self.assertRaisesRegex(AgentError, "two keys that JSON writes as `1`; one of them is a `str`"):
            as_text({"a": [{1: "a", "1": "b"}]})

    def test_the_state_of_a_session_has_no_address_of_an_object(self):
        self.assertEqual(as_state({"at": datetime.date(2026, 1, 2), 1: None}), {"at": "2026-01-02", "1": None})
        with self.assertRaisesRegex(AgentError, "the session state under `x` is a `list` that JSON cannot show: .*<object object>"):
            as_state({"x": [object()]})

    def test_bytes_are_no_answer(self):
        with self.assertRaisesRegex(AgentError, "the answer is `bytes`, and an answer is text; return `answer.decode\\(\\)`"):
            as_text(b"It is sunny.")

    def test_another_program_is_told_whatever_it_prints(self):
        here = Path.cwd()
        for printed in [b"\xff", b"1", b"[]", b"{}", b""]:
            with self.subTest(printed), self.assertRaisesRegex(EvalsetError, "ended with 0, without a report"):
                done = lambda *_, encoding, errors, **__: types.SimpleNamespace(
                    stdout=printed.decode(encoding, errors), stderr="", returncode=0
                )
                with mock.patch("subprocess.run", done):
                    run_command("other", ["run"], here, [])


if __name__ == "__main__":
    unittest.main()
