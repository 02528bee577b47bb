"""Tools that do not run: the other side answers."""

import ast
import asyncio
import unittest

from driver import PACKAGE, ProgramTest, calls, texts

from evalset._conversation import Conversation
from evalset.adapters._adk_golden_tools import RUN

WEATHER = """
    import dataclasses
    import evalset

    @dataclasses.dataclass
    class Sky:
        sky: str

    @evalset.tool
    def get_weather(city: str, days: int = 1) -> dict:
        raise SystemExit("REAL")

    @evalset.tool
    async def look(city: str) -> Sky:
        raise SystemExit("REAL")

    @evalset.tool
    def name() -> str:
        raise SystemExit("REAL")
"""


class GoldenTools(ProgramTest):
    def golden(self, code, **state):
        program = self.program(code)
        self.assertEqual(program.start(tools="golden", **state), {"type": "started", "tools": "golden", "session_id": "s1"})
        return program

    def asked(self, program):
        """The next question for a tool, after the events before it."""
        while (message := program.read())["type"] == "event":
            pass
        self.assertEqual(message["type"], "tool", message)
        return message

    def answer(self, program, question, **answer):
        program.write(type="tool_result", session_id=question["session_id"], id=question["id"], **answer)

    def test_the_answer_takes_the_place_of_the_tool(self):
        program = self.golden(WEATHER + """
    async def agent(message):
        seen = await look("Oslo")
        return f"{get_weather(message)['sky']} {seen.sky} {name()}"
""")
        program.ask("Paris")
        question = self.asked(program)
        self.assertEqual((question["name"], question["args"]), ("look", {"city": "Oslo"}))
        self.answer(program, question, result={"sky": "grey"})
        # The loop of the program is blocked while it waits for this one.
        question = self.asked(program)
        self.assertEqual((question["name"], question["args"]), ("get_weather", {"city": "Paris"}))
        self.answer(program, question, result={"sky": "sunny"})
        self.answer(program, self.asked(program), result={"result": "Anna"})
        self.assertEqual(texts(program.answer()), ["sunny grey Anna"])
        self.assertEqual(program.end(), 0)

    def test_calls_at_the_same_time_are_answered_in_any_order(self):
        program = self.golden(WEATHER + """
    import asyncio

    async def agent(message):
        found = await asyncio.gather(look("Oslo"), look("Paris"), return_exceptions=True)
        return f"{found[0].sky} {found[1]}"
""")
        program.ask("go")
        first, second = self.asked(program), self.asked(program)
        self.answer(program, second, error="connection reset")
        self.answer(program, first, result={"sky": "grey"})
        answer = program.answer()
        self.assertEqual(texts(answer), ["grey connection reset"])
        results = calls(answer)[1]
        self.assertIn({"sky": "grey"}, results)
        self.assertIn({"error": "ToolFailed: connection reset"}, results)

    def test_a_tool_changes_the_state_that_the_agent_sees(self):
        program = self.golden(WEATHER + """
    def agent(message, turn):
        get_weather(message)
        return turn.state["last_city"]
""")
        program.ask("Paris")
        self.answer(program, self.asked(program), result={}, state={"last_city": "Paris"})
        answer = program.answer()
        self.assertEqual(texts(answer), ["Paris"])
        # The other side knows the change.
        self.assertFalse(any("actions" in message.get("event", {}) for message in answer))

    def test_a_class_asks_too_and_a_call_that_was_made_already_is_an_error(self):
        program = self.golden("""
    class agent:
        def turn(self, message, turn):
            turn.tool_call("get_weather", {"city": message}, "sunny")
            return "sunny"
""")
        self.assertIn("the call of `get_weather` was recorded, and no golden was asked", program.turn("Paris")[-1]["message"])

    def test_a_call_that_is_recorded_in_any_way_and_not_asked_for_is_an_error(self):
        # The tool that is called in the right way beside it has its answer, and does not excuse it.
        asks = WEATHER + """
    def agent(message, turn):
        get_weather(message)
        {record}
        return "sunny"
"""
        call = '{"functionCall": {"name": "get_weather", "args": {}}}'
        for record, is_error in [
            ('turn.tool_call("get_weather", {}, "sunny")', True),
            ('turn.begin("get_weather", {})("sunny")', True),
            (f"turn.model([{call}])", True),
            (f'turn.event({{"content": {{"role": "model", "parts": [{call}]}}}})', True),
            # It repeats what is recorded as a whole.
            (f'turn.event({{"partial": True, "content": {{"role": "model", "parts": [{call}]}}}})', False),
            ('turn.tool_call("transfer_to_agent", {"agent_name": "nurse"}, None)', False),
            ('turn.model([{"text": "It is"}])', False),
        ]:
            with self.subTest(record):
                program = self.golden(asks.replace("{record}", record))
                program.ask("Paris")
                self.answer(program, self.asked(program), result={"sky": "sunny"})
                end = program.answer()[-1]
                self.assertEqual(end["type"], "error" if is_error else "turn_end", end)
                if is_error:
                    self.assertIn("the call of `get_weather` was recorded, and no golden was asked", end["message"])

    def test_recorded_calls_are_as_they_were_unless_tools_are_golden(self):
        program = self.program("""
    def agent(message, turn):
        turn.tool_call("get_weather", {}, "sunny")
        return "sunny"
""")
        program.start()
        self.assertEqual(program.turn("Paris")[-1]["type"], "turn_end")

    def test_a_tool_belongs_to_its_conversation_alone(self):
        program = self.program("""
            import threading
            from evalset._golden import current

            def agent(message):
                found = []

                def look():
                    try:
                        found.append(current("look"))
                    except Exception as error:
                        found.append(str(error))

                if message == "thread":
                    thread = threading.Thread(target=look)
                    thread.start()
                    thread.join()
                else:
                    look()
                return found[0] if isinstance(found[0], str) else type(found[0]).__name__
            """)

        def said(session, message):
            return texts(program.turn(message, session=session))[0]

        program.start("real")
        self.assertEqual([said("real", "here"), said("real", "thread")], ["NoneType", "NoneType"])
        program.start("golden", tools="golden")
        self.assertEqual([said("real", "here"), said("golden", "here")], ["NoneType", "Golden"])
        # It may belong to either.
        for session in ("real", "golden"):
            self.assertIn("belongs to no conversation, while 2 ran and not all tools were real", said(session, "thread"))
        program.write(type="end", session_id="real")
        self.assertEqual([said("golden", "here"), said("golden", "thread")], ["Golden", "Golden"])

    def test_the_state_of_a_conversation_is_read_and_changed_under_its_lock(self):
        conversation = None
        seen = []

        class Watched(dict):
            def items(self):
                seen.append(("read", conversation._lock.locked()))
                return super().items()

            def update(self, *args):
                seen.append(("changed", conversation._lock.locked()))
                super().update(*args)

        class Script:
            async def turn(self, turn):
                # As the thread that reads does, with the answer of a golden tool.
                conversation._change({"city": "Paris"})
                turn.state["days"] = 2
                turn.text("Done.")

            async def close(self):
                pass

        async def opened(session):
            session.state = Watched(session.state)
            return Script()

        async def play():
            nonlocal conversation
            written = []
            conversation = Conversation({"session_id": "s1", "tools": "golden", "state": {}}, opened, written.append)
            conversation.put({"content": {"parts": [{"text": "go"}]}})
            conversation.end()
            await conversation.task
            return written

        written = asyncio.run(play())
        # The change of the tool, the text, the state at the end of the turn, and the change that is recorded of it.
        self.assertEqual(seen, [("changed", True), ("changed", True), ("read", True), ("changed", True)])
        deltas = [message["event"].get("actions") for message in written if message["type"] == "event"]
        self.assertEqual(deltas, [None, {"stateDelta": {"days": 2}}])
        self.assertEqual(written[-1]["type"], "turn_end")

    def test_a_tool_that_never_answers_is_given_up_with_its_conversation_and_keeps_no_other(self):
        agents = {
            "a function that blocks the loop": """
    async def agent(message):
        return get_weather(message)["sky"] if message != "hi" else "hello"
""",
            "a function that hides each error": """
    def agent(message):
        try:
            return get_weather(message)["sky"] if message != "hi" else "hello"
        except Exception:
            get_weather("again")
""",
            "a function that waits": """
    async def agent(message):
        return (await look(message)).sky if message != "hi" else "hello"
""",
        }
        for what, code in agents.items():
            with self.subTest(what):
                program = self.golden(WEATHER + code)
                program.start(session="s2")
                program.ask("Paris")
                self.assertEqual(self.asked(program)["session_id"], "s1")
                program.write(type="end", session_id="s1")
                answer = program.turn("hi", session="s2")
                self.assertEqual({message["session_id"] for message in answer}, {"s2"})
                self.assertEqual(texts(answer), ["hello"])
                self.assertEqual(program.end(), 0)

    def test_the_tools_of_adk_that_run_are_the_same_here_and_in_its_server(self):
        plugin = PACKAGE.parent / "eval-agents/src/adk_server/golden_tools/plugin.py"
        assigned = {
            target.id: statement.value
            for statement in ast.parse(plugin.read_text()).body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        self.assertEqual(ast.literal_eval(assigned["_RUN"]), RUN)

    def test_tools_run_unless_they_are_golden(self):
        program = self.program(WEATHER + """
    @evalset.tool
    def add(a: int) -> int:
        return a + 1

    def agent(message):
        return str(add(1))
""")
        self.assertEqual(program.start(), {"type": "started", "session_id": "s1"})
        self.assertEqual(texts(program.turn("go")), ["2"])


if __name__ == "__main__":
    unittest.main()
