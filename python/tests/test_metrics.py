"""Metrics that are functions of Python: as programs, and as functions."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import evalset

PACKAGE = Path(__file__).resolve().parents[1]

TURN = {
    "invocation_id": "i",
    "user_content": "Paris?",
    "final_response": "It is sunny.",
    "intermediate_steps": {
        "tool_calls": [{"name": "get", "args": {"city": "Paris"}, "id": "1"}],
        "tool_responses": [{"name": "get", "output": '{"sky":"sunny"}', "id": "1", "response": {"sky": "sunny"}}],
    },
    "performance_metrics": None,
}


def question(turns=1, **more):
    return {
        "protocol_version": "1.1",
        "metric_name": "m",
        "threshold": 0.5,
        "config": {"max_words": 3},
        "invocations": [TURN] * turns,
        "expected_invocations": None,
        **more,
    }


class Metrics(unittest.TestCase):
    def ask(self, body, *questions, text=None):
        """What a metric writes; its exit code and its standard error."""
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "m.py")
            script.write_text("import evalset\n" + textwrap.dedent(body) + '\nif __name__ == "__main__":\n    m.serve()\n')
            sent = text if text is not None else "\n".join(json.dumps(one) for one in questions)
            env = os.environ | {"PYTHONPATH": str(PACKAGE)}
            done = subprocess.run([sys.executable, script], input=sent.encode(), capture_output=True, env=env)
        return [json.loads(line) for line in done.stdout.splitlines()], done.returncode, done.stderr.decode()

    def test_a_function_scores_a_run(self):
        for body, expected in [
            ("return run.turns[0].answer == 'It is sunny.'", {"score": 1.0, "per_invocation_scores": [], "details": None}),
            ("return 0.25", {"score": 0.25, "per_invocation_scores": [], "details": None}),
            ("return [1, 0.5]", {"score": 0.75, "per_invocation_scores": [1.0, 0.5], "details": None}),
            ("return [None, True]", {"score": 1.0, "per_invocation_scores": [None, 1.0], "details": None}),
            ("return None", {"score": 0.0, "status": "NOT_EVALUATED"}),
            ("return [None, None]", {"score": 0.0, "status": "NOT_EVALUATED", "per_invocation_scores": [None, None]}),
            (
                "return evalset.Scored(0.5, turns=[0, 1], notes={'why': ('a', 'b')})",
                {"score": 0.5, "per_invocation_scores": [0.0, 1.0], "details": {"why": ["a", "b"]}},
            ),
        ]:
            with self.subTest(body):
                found, code, stderr = self.ask(f"@evalset.metric\ndef m(run):\n    {body}\n", question(turns=2))
                self.assertEqual((found, code), ([{**expected, "_reads_lines": True}], 0), stderr)

    def test_a_run_has_what_the_protocol_says(self):
        body = """
            @evalset.metric
            async def m(run):
                (turn,) = run.turns
                assert turn == run.expected[0]
                assert turn.calls == [evalset.Call("get", {"city": "Paris"}, "1")]
                assert turn.results == [evalset.Result("get", {"sky": "sunny"}, "1")]
                assert (turn.message, turn.id) == ("Paris?", "i")
                assert (run.options, run.threshold, run.metric) == ({"max_words": 3}, 0.5, "m")
                return True
            """
        found, code, stderr = self.ask(body, question(expected_invocations=[TURN]))
        self.assertEqual((found[0]["score"], code), (1.0, 0), stderr)

    def test_one_program_answers_many_questions_and_each_answer_has_the_id_of_its_question(self):
        body = """
            asked = 0

            @evalset.metric
            def m(run):
                global asked
                asked += 1
                print("asked", asked)
                return evalset.Scored(1, notes={"n": asked})
            """
        found, code, stderr = self.ask(body, *(question(_id=id) for id in [7, 8, 9]))
        self.assertEqual([(one["_id"], one["details"]["n"]) for one in found], [(7, 1), (8, 2), (9, 3)])
        self.assertEqual((code, stderr), (0, "asked 1\nasked 2\nasked 3\n"))

    def test_a_question_over_several_lines_is_one(self):
        body = "@evalset.metric\ndef m(run):\n    return len(run.turns) == 1\n"
        found, code, _ = self.ask(body, text=json.dumps(question(), indent=2) + "\n")
        self.assertEqual((found[0]["score"], code), (1.0, 0))

    def test_what_is_no_score_ends_the_program_with_an_error(self):
        for body, expected in [
            ("return 1.5", "the score 1.5 is not from 0 to 1"),
            ("return float('nan')", "the score nan is no finite number"),
            ("return [1, 1, 1]", "3 scores for 2 turns"),
            ("return 'good'", "not 'good'"),
            ("return [1, 'x']", "the score 'x' is no finite number"),
            ("raise KeyError('max')", "KeyError: 'max'"),
        ]:
            with self.subTest(body):
                found, code, stderr = self.ask(f"@evalset.metric\ndef m(run):\n    {body}\n", question(turns=2))
                self.assertEqual((found, code), ([], 1))
                self.assertIn(expected, stderr)
        for text, expected in [("", "no question on standard input"), ("[]", "a question is an object"), ("x", "JSONDecodeError")]:
            with self.subTest(text):
                found, code, stderr = self.ask("@evalset.metric\ndef m(run):\n    return 1\n", text=text)
                self.assertEqual((found, code), ([], 1))
                self.assertIn(expected, stderr)

    def test_a_metric_can_be_called_as_its_function(self):
        @evalset.metric
        def brevity(run):
            """Few words."""
            return len(run.turns[0].answer.split()) < 3

        self.assertTrue(brevity(evalset.Run([evalset.RunTurn(answer="It is")])))
        self.assertEqual((brevity.__name__, brevity.__doc__), ("brevity", "Few words."))


if __name__ == "__main__":
    unittest.main()
