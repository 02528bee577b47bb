"""Agents that are classes, and functions that make agents."""

import textwrap
import unittest

from driver import ProgramTest, texts


class Classes(ProgramTest):
    def test_each_conversation_has_an_instance_in_a_thread_of_its_own(self):
        program = self.program(
            """
            import sqlite3

            class Desk:
                def __init__(self, session):
                    # A connection refuses other threads.
                    self.notes = sqlite3.connect(":memory:")
                    self.notes.execute("create table notes (text)")
                    self.user = session.user_id

                def turn(self, message):
                    self.notes.execute("insert into notes values (?)", [message])
                    return f"{self.user} {self.notes.execute('select group_concat(text) from notes').fetchone()[0]}"

                def end(self):
                    self.notes.close()
                    print("closed")
            """,
            name="Desk",
        )
        program.start("s1", user_id="anna")
        program.start("s2", user_id="ben")
        self.assertEqual(texts(program.turn("a", session="s1")), ["anna a"])
        self.assertEqual(texts(program.turn("b", session="s2")), ["ben b"])
        self.assertEqual(texts(program.turn("c", session="s1")), ["anna a,c"])
        program.write(type="end", session_id="s1")
        program.write(type="end", session_id="s2")
        self.assertEqual(program.end(), 0)
        self.assertEqual(program.stderr.count("closed"), 2)

    def test_an_async_class_and_a_class_that_is_called(self):
        for body in [
            "async def turn(self, message, turn):",
            "async def __call__(self, message, turn):",
            "def __call__(self, message, turn):",
        ]:
            with self.subTest(body):
                program = self.program(
                    f"""
                    class Desk:
                        def __init__(self):
                            self.said = []

                        {body}
                            self.said.append(message)
                            return f"{{self.said}} {{len(turn.history)}}"
                    """,
                    name="Desk",
                )
                program.start("s1")
                program.start("s2")
                program.turn("a", session="s1")
                self.assertEqual(texts(program.turn("b", session="s1")), ["['a', 'b'] 2"])
                self.assertEqual(texts(program.turn("c", session="s2")), ["['c'] 0"])

    def test_a_function_without_parameters_makes_an_agent_for_each_conversation(self):
        program = self.program(
            """
            import contextlib

            class Counter:
                def __init__(self):
                    self.count = 0

                def turn(self, message):
                    self.count += 1
                    return str(self.count)

            def made():
                return Counter()

            async def awaited():
                return Counter()

            @contextlib.asynccontextmanager
            async def entered():
                print("opened")
                yield Counter()
                print("closed")

            @contextlib.contextmanager
            def entered_at_once():
                print("opened")
                yield Counter()
                print("closed")
            """,
            name="made",
        )
        code = (self.folder / "agent.py").read_text()
        for name in ("made", "awaited", "entered", "entered_at_once"):
            with self.subTest(name):
                program = self.program(code, name=name)
                program.start("s1")
                program.start("s2")
                self.assertEqual(texts(program.turn("a", session="s1")), ["1"])
                self.assertEqual(texts(program.turn("a", session="s1")), ["2"])
                self.assertEqual(texts(program.turn("a", session="s2")), ["1"])
                program.write(type="end", session_id="s1")
                self.assertEqual(program.end(), 0)
                count = 2 if name.startswith("entered") else 0
                self.assertEqual((program.stderr.count("opened"), program.stderr.count("closed")), (count, count))

    def test_an_agent_that_fails_at_its_end_ends_its_program_with_an_error(self):
        code = """
            import contextlib

            class Method:
                def turn(self, message):
                    return "ok"

                def end(self):
                    raise ValueError("left open")

            class Awaited(Method):
                async def end(self):
                    raise ValueError("left open")

            class Exits(Method):
                def end(self):
                    raise SystemExit("left open")

            @contextlib.contextmanager
            def entered():
                yield lambda message: "ok"
                raise ValueError("left open")
            """
        for name in ("Method", "Awaited", "Exits", "entered"):
            with self.subTest(name):
                program = self.program(code, name=name)
                program.start("s1")
                program.start("s2")
                self.assertEqual(texts(program.turn("a", session="s1")), ["ok"])
                program.write(type="end", session_id="s1")
                self.assertEqual(texts(program.turn("a", session="s2")), ["ok"])
                self.assertEqual(program.end(), 1)
                self.assertRegex(program.stderr, "evalset: the agent failed when its conversation ended: .*: left open")

    def test_an_instance_is_refused_as_conversations_would_share_it(self):
        code = """
            class Desk:
                def METHOD(self, message):
                    return message

            agent = Desk()
            """
        told = "all conversations would share it; name the class `Desk`, or a function without parameters that makes one"
        for method in ("turn", "__call__"):
            with self.subTest(method):
                self.assertIn(told, self.program(code.replace("METHOD", method)).start().get("message", ""))
        # Each has its own, or it wraps a function.
        for instead in [
            "def agent(): return Desk()",
            "import functools\nagent = functools.update_wrapper(Desk(), print)",
            "import functools\nagent = functools.partial(lambda message: message)",
        ]:
            with self.subTest(instead):
                program = self.program(textwrap.dedent(code).replace("agent = Desk()", instead).replace("METHOD", "__call__"))
                self.assertEqual(program.start()["type"], "started")
                self.assertEqual(texts(program.turn("Hi")), ["Hi"])


if __name__ == "__main__":
    unittest.main()
