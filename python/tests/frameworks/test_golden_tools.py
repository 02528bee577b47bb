"""Golden tools of agents of all frameworks: none of their tools runs, and their agents do."""

import unittest
from pathlib import Path

from driver import ProgramTest, calls, texts

HERE = Path(__file__).parent
FRAMEWORKS = ["pydantic_ai", "openai_agents", "langchain", "google_adk"]


class GoldenTools(ProgramTest):
    def story(self, framework):
        """The agent of the story, whose tools end the process if they run."""
        code = f"""
            import os, sys
            sys.path.insert(0, {str(HERE)!r})
            import story

            def ran(*args):
                os._exit(77)

            story.time.sleep = ran
            import {framework}_agent
            agent = {framework}_agent.agent
            """
        program = self.program(code)
        started = program.start(tools="golden", **({"state": {}} if framework != "langchain" else {}))
        self.assertEqual((started.get("type"), started.get("tools")), ("started", "golden"), started)
        return program

    def told(self, program, *answers):
        """Sends the answers to the next questions in reverse, and what the turn is in the end."""
        questions = []
        while len(questions) < len(answers):
            message = program.read()
            self.assertIn(message["type"], ("event", "tool"), message)
            questions += [message] if message["type"] == "tool" else []
        for question, answer in reversed(list(zip(questions, answers))):
            program.write(type="tool_result", session_id="s1", id=question["id"], **answer)
        return [(question["name"], question["args"]) for question in questions], program.answer()

    def test_goldens_answer_and_no_tool_runs(self):
        for framework in FRAMEWORKS:
            with self.subTest(framework):
                program = self.story(framework)
                program.ask("Compare Oslo and Bergen")
                golden = {"sky": "golden", "city": "?"}
                asked, answer = self.told(program, {"result": golden}, {"result": golden})
                self.assertEqual(
                    sorted(asked, key=str), [("get_weather", {"city": "Bergen"}), ("get_weather", {"city": "Oslo"})]
                )
                self.assertEqual(texts(answer)[-1], "Rain in both.")
                results = calls(answer)[1]
                self.assertTrue(results and all("golden" in str(result) for result in results), results)

    def test_handoffs_run(self):
        # Of pydantic-ai it is a tool like others.
        for framework in ["openai_agents", "google_adk"]:
            with self.subTest(framework):
                program = self.story(framework)
                self.assertEqual(texts(program.turn("Call the nurse"))[-1], "This is the nurse.")

    def test_a_tool_that_fails_fails_as_in_life(self):
        for framework in ["openai_agents", "langchain"]:
            with self.subTest(framework):
                program = self.story(framework)
                program.ask("Delete it")
                asked, answer = self.told(program, {"error": "the disk is full"})
                self.assertEqual(asked, [("delete", {"number": 7})])
                self.assertEqual(texts(answer)[-1], "It is locked.")
                self.assertIn("the disk is full", str(calls(answer)[1]))


if __name__ == "__main__":
    unittest.main()
