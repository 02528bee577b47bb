"""The code in docs/python.md."""

import re
import unittest

import evalset
from driver import PACKAGE, ProgramTest, calls, texts

PAGE = PACKAGE.parent / "docs" / "python.md"


def blocks():
    """The blocks of Python by the names of their files."""
    found = re.findall(r"```python\n# (\S+)\.py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return dict(found)


class Page(ProgramTest):
    def test_each_block_has_a_name_and_is_python(self):
        self.assertEqual(len(blocks()), PAGE.read_text(encoding="utf-8").count("```python"))
        self.assertEqual(set(blocks()), {"weather", "desk", "metrics/brevity", "bank", "traced"})
        for name, code in blocks().items():
            compile(code, name, "exec")

    def test_the_function_answers(self):
        program = self.program(blocks()["weather"])
        program.start()
        answer = program.turn("What is the weather in Paris?")
        self.assertEqual(calls(answer), ([("get_weather", {"city": "Paris"})], [{"sky": "sunny", "city": "Paris"}]))
        self.assertEqual(texts(answer), ["It is sunny in Paris."])

    def test_the_class_remembers(self):
        program = self.program(blocks()["desk"], name="Desk")
        program.start(user_id="anna")
        program.turn("chairs")
        answer = program.turn("tables")
        self.assertEqual(calls(answer), ([("search", {"text": "tables"})], [{"result": "nothing about tables"}]))
        self.assertEqual(texts(answer), ["Message 2 of anna: nothing about tables"])
        self.assertEqual(answer[-2]["event"], {"actions": {"stateDelta": {"searches": 2}}})

    def test_the_metric_scores(self):
        names = {"__name__": "brevity"}
        exec(blocks()["metrics/brevity"], names)
        turns = [evalset.RunTurn(answer="It is sunny."), evalset.RunTurn()]
        for most, score in [(3, 1), (2, 0)]:
            found = names["brevity"](evalset.Run(turns, options={"max_words": most}))
            self.assertEqual((found.score, found.turns, found.notes), (score, [score, 1], {"words": [3, 0]}))


if __name__ == "__main__":
    unittest.main()
