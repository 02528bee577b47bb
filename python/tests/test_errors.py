"""What an agent that cannot be used, or fails, is told."""

import unittest

from driver import ProgramTest, texts


class Errors(ProgramTest):
    def refusal(self, code, name):
        program = self.program(code, words=["-m", "evalset", name])
        message = program.start()
        self.assertEqual((message["type"], message["session_id"]), ("error", "s1"))
        self.assertEqual(program.turn("Hi"), [message])
        self.assertEqual(program.end(), 0)
        return message["message"], program.stderr

    def test_an_agent_that_cannot_be_found_is_named_with_what_helps(self):
        code = "def answer(message):\n    return message\n"
        for name, parts in [
            ("agents:answer", ["there is no module `agents`: is `agent` meant? it is not in "]),
            ("agent.inner:answer", ["there is no module `inner` in `agent`"]),
            (
                "agent:anwser",
                ["`agent` has no `anwser`, as `agent:anwser` says: is `agent:answer` meant? it has `answer` (", "agent.py)"],
            ),
            ("tools:bot", ["there is no module `tools`: run the command in the folder that has it, or install it; it is not in"]),
            ("agent:bot", ["`agent` has no `bot`, as `agent:bot` says: it has `answer` ("]),
            ("agent:answer.call", ["has no `answer.call`"]),
            ("agent.py:answer", ["write `agent:answer`"]),
            ("agent", ["does not name an agent as MODULE:OBJECT; write `agent:agent`"]),
        ]:
            with self.subTest(name):
                message, _ = self.refusal(code, name)
                for part in parts:
                    self.assertIn(part, message)

    def test_a_module_that_cannot_be_imported_says_why(self):
        for code, parts in [
            (
                "import pydantic_ai_that_is_missing",
                [
                    "No module named 'pydantic_ai_that_is_missing' (in <module>, agent.py:1)",
                    "-m pip install pydantic-ai-that-is-missing",
                ],
            ),
            (
                "raise ModuleNotFoundError('no google.adk', name='google.adk')",
                ["cannot import `agent`", "-m pip install google-adk"],
            ),
            ("import email.no_such_module", ["`email` is installed without `no_such_module`", "-m pip show email"]),
            ("1 / 0", ["cannot import `agent`: ZeroDivisionError: division by zero (in <module>, agent.py:1)"]),
            ("import sys\nsys.exit(3)", ["cannot import `agent`: SystemExit: 3"]),
            ("def broken(:", ["cannot import `agent`: SyntaxError"]),
            ("class Stop(BaseException): ...\nraise Stop('no')", ["cannot import `agent`: Stop: no (in <module>, agent.py:2)"]),
            ("raise KeyboardInterrupt", ["cannot import `agent`: KeyboardInterrupt (in <module>, agent.py:1)"]),
        ]:
            with self.subTest(code):
                message, stderr = self.refusal(code, "agent:answer")
                for part in parts:
                    self.assertIn(part, message)
                self.assertIn("Traceback", stderr)

    def test_a_file_that_hides_a_module_of_python_is_named(self):
        for file, code in [
            ("queue.py", "def agent(message): return message"),
            ("queue.py", "import queue\nqueue.Queue"),
            ("queue.py", "from queue import Queue"),
            ("wsgiref/__init__.py", "import wsgiref.util"),
            ("quopri.py", "import quopri.more"),
        ]:
            with self.subTest(file=file, code=code):
                program = self.program(code, files=[file])
                answer = program.start()
                message = answer.get("message") or program.turn("Hi")[-1].get("message", "")
                module = file.partition("/")[0].removesuffix(".py")
                self.assertIn(f"`{file}` hides the module `{module}` of Python; rename it", message)

    def test_the_file_of_a_module_without_the_named_one_is_told(self):
        for folder, part in [
            ("site/agents", "there is no module `weather` in `agents`, so `agents.weather` cannot be imported ("),
            ("agents", "there is no module `weather` in `agents`, as "),
            ("agents", "/agents/__init__.py hides the folder `agents`; rename the folder"),
        ]:
            with self.subTest(folder):
                # A package that is not in the current folder, as an installed one.
                start = "import sys; sys.path.append('site'); sys.argv = ['evalset', 'agents.weather:agent']; import evalset.__main__"
                program = self.program("", words=["-c", start], files=["site/agents/__init__.py", f"{folder}/notes.txt"])
                self.assertIn(part, program.start()["message"])

    def test_what_helps_is_in_the_part_of_a_message_that_is_shown(self):
        # The command cuts a line at 240 characters, 39 of which are its own.
        for code, name, remedy in [
            ("agent = {'a': 1}", "agent:agent", "or a class with `turn`"),
            ("import evalset\nagent = evalset.with_options(3, deps=1)", "agent:agent", "is for agents of frameworks"),
            ("import no_such_package", "agent:agent", "install `no-such-package`"),
            ("import email.no_such", "agent:agent", "-m pip show email"),
            ("agent = 1", "agnt:agent", "is `agent` meant?"),
            ("def answer(message): ...\n" + "def tool_of_a_long_name(): ...\n" * 9, "agent:anwser", "is `agent:answer` meant?"),
        ]:
            with self.subTest(name=name, remedy=remedy):
                message, _ = self.refusal(code, name)
                self.assertIn(remedy, message[:200])

    def test_an_object_that_is_no_agent_says_what_is_one(self):
        for code, part in [
            (
                "agent = {'a': 1}",
                "a `dict` is no agent; name an agent of pydantic-ai, openai-agents or google-adk, a compiled graph, a function, or a "
                "class with `turn`",
            ),
            (
                "class Graph:\n    def compile(self): ...\nagent = Graph()",
                "which is not compiled; name what `compile()` returns",
            ),
            (
                "def agent(a, b, c): ...",
                "the function takes (a, b, c); the function of an agent takes (message) or (message, turn)",
            ),
            ("def agent(message, history): ...", "the function takes (message, history); the function of an agent takes (message)"),
            ("def agent(message, session_id, turn): ...", "the function takes (message, session_id, turn); the function"),
            ("def agent(turn): ...", "the function takes (turn); the function of an agent takes (message) or (message, turn)"),
            ("class agent:\n    def turn(self, message, history): ...", "the function takes (message, history); the function"),
            ("class agent:\n    def turn(self): ...", "the function takes (); the function of an agent takes (message)"),
            (
                "class agent:\n    def __init__(self, client): ...\n    def turn(self, message): ...",
                "`agent(client)` is more than an agent is made of: (session) or nothing; a function without parameters can make it",
            ),
            (
                "class agent:\n    def __init__(self, session, client): ...\n    def turn(self, message): ...",
                "`agent(session, client)` is more than an agent is made of",
            ),
            (
                "def agent(): return 'hello'",
                "`agent` made no agent, but `str`: a function without parameters makes an agent for each conversation; one that "
                "answers takes the message, `def agent(message)`",
            ),
            ("async def agent(): ...", "`agent` made no agent, but `NoneType`"),
            ("def agent(): yield 'hello'", "`agent` made no agent, but `generator`"),
            (
                "import evalset\nclass Own:\n    def invoke(self): ...\nagent = evalset.with_options(Own(), lambda session: None)",
                "the function of `with_options` returned a `NoneType`; return a dictionary of options",
            ),
            ("import evalset\nagent = evalset.with_options(len, deps=1)", "`with_options` is for agents of frameworks"),
        ]:
            with self.subTest(code):
                self.assertIn(part, self.refusal(code, "agent:agent")[0])

    def test_a_turn_that_fails_says_what_was_raised_and_where(self):
        program = self.program("""
            import sys

            class Error(Exception):
                pass

            def agent(message):
                if message == "exit":
                    sys.exit(4)
                if message == "own":
                    raise Error("no answer")
                raise ValueError("no such city")
            """)
        for text, expected in [
            ("exit", "SystemExit: 4 (in agent, agent.py:9)"),
            ("own", "agent.Error: no answer (in agent, agent.py:11)"),
            ("else", "ValueError: no such city (in agent, agent.py:12)"),
        ]:
            program.start(text)
            self.assertEqual(program.turn(text, session=text), [{"type": "error", "message": expected, "session_id": text}])
        self.assertEqual(program.end(), 0)
        self.assertIn("Traceback", program.stderr)

    def test_an_error_is_told_whatever_its_type_is_and_wherever_its_turn_runs(self):
        for word in ("", "async "):
            with self.subTest(word):
                program = self.program(f"""
                    import asyncio, os, shutil, sys

                    class Stop(BaseException):
                        pass

                    class Mute(Exception):
                        def __str__(self):
                            raise ValueError("no text")

                    class Group(BaseException):
                        exceptions = (ValueError("first"), Stop("second"))

                    class Endless(BaseException):
                        pass

                    {word}def agent(message):
                        if message == "loop":
                            error = Endless()
                            error.exceptions = (error,)
                            raise error
                        if message == "gone":
                            shutil.rmtree(os.getcwd())
                        if message == "closed":
                            sys.stderr.close()
                        raise {{
                            "stop": Stop("enough"), "mute": Mute(), "group": Group(), "interrupt": KeyboardInterrupt(),
                            "exit": GeneratorExit(), "cancelled": asyncio.CancelledError(),
                        }}.get(message) or ValueError(message)
                    """)
                for text, expected in [
                    ("stop", "Stop: enough (in agent, agent.py:"),
                    ("mute", "Mute: (its text raises ValueError) (in agent, agent.py:"),
                    ("group", "ValueError: first; Stop: second"),
                    ("loop", "Endless"),
                    ("interrupt", "KeyboardInterrupt (in agent, agent.py:"),
                    ("exit", "GeneratorExit"),
                    ("cancelled", "the agent was cancelled"),
                    ("gone", "ValueError: gone"),
                    ("closed", "ValueError: closed"),
                ]:
                    program.start(text)
                    answer = program.turn(text, session=text)
                    self.assertEqual(len(answer), 1, answer)
                    self.assertIn(expected, answer[0].get("message", ""))
                    self.assertLess(len(answer[0]["message"]), 120)
                self.assertEqual(program.end(), 0)

    def test_an_error_at_the_beginning_and_at_the_end_leaves_the_process_alive(self):
        program = self.program("""
            class Stop(BaseException):
                pass

            class Desk:
                def __init__(self, session):
                    if session.user_id == "bad":
                        raise Stop("not today")

                async def turn(self, message):
                    return message

                async def end(self):
                    raise SystemExit(3)
            """, name="Desk")
        self.assertIn("Stop: not today (in __init__, agent.py:", program.start("s1", user_id="bad")["message"])
        program.start("s2")
        program.write(type="end", session_id="s2")
        program.start("s3")
        self.assertEqual(texts(program.turn("Hi", session="s3")), ["Hi"])
        self.assertEqual(program.end(), 1)
        self.assertIn("SystemExit: 3", program.stderr)

    def test_state_that_no_one_reads_is_an_error(self):
        program = self.program("def agent(message):\n    return message\n")
        program.start(state={"unit": "C"})
        self.assertIn("the case begins with state (`unit`), which the agent is not given", program.turn("Hi")[-1]["message"])

    def test_messages_and_keys_of_later_versions_are_passed_over(self):
        program = self.program("def agent(message):\n    return message\n")
        program.start(more=1)
        program.write(type="later", session_id="s1")
        self.assertEqual(texts(program.turn("Hi")), ["Hi"])
        self.assertEqual(program.end(), 0)


if __name__ == "__main__":
    unittest.main()
