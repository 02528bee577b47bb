"""Values of the protocol and lines of files that frameworks and disks decide about."""

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
from evalset._json import as_text
from evalset._parts import tokens


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
