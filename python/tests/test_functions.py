"""Agents that are functions."""

import unittest

from driver import ProgramTest, calls, parts, texts

IMAGE = {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}


class Functions(ProgramTest):
    def test_a_result_that_json_cannot_show_is_an_error_that_names_its_tool(self):
        program = self.program("""
            import evalset
            from unittest.mock import MagicMock

            class Found:
                pass

            @evalset.tool
            def look(kind):
                return Found() if kind == "object" else MagicMock()

            def agent(message):
                try:
                    look(message)
                except Exception:
                    pass
                return "Done."
            """)
        for kind, name in [("object", "Found"), ("mock", "MagicMock")]:
            program.start(kind)
            message = program.turn(kind, session=kind)[-1].get("message", "")
            self.assertIn(f"the result of the tool `look` is a `{name}` that JSON cannot show: ", message)

    def test_a_function_answers_and_its_tools_are_recorded(self):
        program = self.program("""
            import evalset

            @evalset.tool
            def get_weather(city: str, days: int = 1) -> dict:
                return {"sky": "sunny", "city": city}

            def agent(message):
                return f"It is {get_weather(message)['sky']}."
            """)
        self.assertEqual(program.start(), {"type": "started", "session_id": "s1"})
        answer = program.turn("Paris")
        self.assertEqual(calls(answer), ([("get_weather", {"city": "Paris"})], [{"sky": "sunny", "city": "Paris"}]))
        self.assertEqual(texts(answer), ["It is sunny."])
        self.assertEqual(answer[-1], {"type": "turn_end", "session_id": "s1"})
        self.assertEqual(program.end(), 0)

    def test_what_an_agent_prints_is_no_message(self):
        program = self.program("""
            import os, subprocess, sys
            print("while it is imported")

            def agent(message):
                print("in a turn")
                os.write(1, b"past Python\\n")
                subprocess.run([sys.executable, "-c", "print('from a child')"])
                return f"read: {sys.stdin.read()!r}"
            """)
        program.start()
        self.assertEqual(texts(program.turn("Hi")), ["read: ''"])
        self.assertEqual(program.end(), 0)
        for text in ["while it is imported", "in a turn", "past Python", "from a child"]:
            self.assertIn(text, program.stderr)

    def test_calls_at_the_same_time_keep_their_order_and_their_results(self):
        program = self.program("""
            import asyncio

            async def look(city, seconds):
                await asyncio.sleep(seconds)
                if city == "Nowhere":
                    raise ValueError("no such city")
                return city.upper()

            async def agent(message, turn):
                slow = turn.tool("look", {"city": "Oslo", "seconds": 0.05}, look)
                fast = turn.tool("look", {"city": "Nowhere", "seconds": 0}, look)
                found = await asyncio.gather(slow, fast, return_exceptions=True)
                return f"{found[0]} {type(found[1]).__name__}"
            """)
        program.start()
        answer = program.turn("Go")
        asked, _ = calls(answer)
        self.assertEqual([args["city"] for _, args in asked], ["Oslo", "Nowhere"])
        ids = {
            part["functionCall"]["id"]: part["functionCall"]["args"]["city"] for part in parts(answer) if "functionCall" in part
        }
        results = {
            ids[p["functionResponse"]["id"]]: p["functionResponse"]["response"]
            for p in parts(answer)
            if "functionResponse" in p
        }
        self.assertEqual(results, {"Oslo": {"result": "OSLO"}, "Nowhere": {"error": "ValueError: no such city"}})
        self.assertEqual(texts(answer), ["OSLO ValueError"])

    def test_a_call_that_is_not_awaited_is_an_error_and_no_pass(self):
        program = self.program("""
            import asyncio, threading
            import evalset
            go = threading.Event()

            async def search(q):
                return {"found": q}

            @evalset.tool
            async def look():
                await asyncio.sleep(600)

            async def agent(message, turn):
                if message == "method":
                    turn.tool("search", {"q": 1}, search)
                if message == "decorated":
                    asyncio.create_task(look())
                    await asyncio.sleep(0)
                if message == "begun":
                    asyncio.create_task(turn.tool("search", {"q": 1}, search))
                if message == "thread":
                    threading.Thread(target=lambda: turn.tool("wait", {}, lambda: go.wait(60)), daemon=True).start()
                    await asyncio.sleep(0.1)
                if message == "raised":
                    turn.tool("search", {"q": 1}, search)
                    raise ValueError("no")
                if message == "awaited":
                    await asyncio.wait([asyncio.create_task(turn.tool("search", {"q": 1}, search))])
                return "Found."
            """)
        for text, expected in [
            ("method", "the call of the tool `search` was not awaited"),
            ("decorated", "the call of the tool `look` was not awaited"),
            ("begun", "the call of the tool `search` was not awaited"),
            ("thread", "the call of the tool `wait` was not awaited"),
            ("raised", "ValueError: no"),
        ]:
            with self.subTest(text):
                program.start(text)
                end = program.turn(text, session=text)[-1]
                self.assertIn(expected, end.get("message", ""))
        program.start("awaited")
        self.assertEqual(program.turn("awaited", session="awaited")[-1]["type"], "turn_end")

    def test_a_call_with_wrong_arguments_is_recorded_as_one_that_failed(self):
        program = self.program("""
            import evalset

            class Desk:
                @evalset.tool
                def look(self, city, days=1, **more):
                    return city

                def turn(self, message):
                    try:
                        return {
                            "missing": lambda: self.look(days=2), "much": lambda: self.look("Oslo", 2, 3),
                            "more": lambda: self.look("Oslo", unit="C"),
                        }[message]()
                    except TypeError:
                        return "failed"
            """, name="Desk")
        program.start()
        for text, args, answer in [
            ("missing", {"days": 2}, "failed"),
            ("much", {"city": "Oslo", "days": 2, "more": 3}, "failed"),
            ("more", {"city": "Oslo", "unit": "C"}, "Oslo"),
        ]:
            with self.subTest(text):
                turn = program.turn(text)
                (asked, results) = calls(turn)
                self.assertEqual((asked, texts(turn)), ([("look", args)], [answer]))
                is_failed = "error" in results[0] and results[0]["error"].startswith("TypeError: ")
                self.assertEqual(is_failed, answer == "failed", results)

    def test_a_change_of_the_state_in_an_event_lasts(self):
        program = self.program("""
            def agent(message, turn):
                if message == "Set":
                    turn.event({"actions": {"stateDelta": {"city": "Oslo"}}})
                if message == "Change":
                    turn.event({"actions": {"stateDelta": {"city": "Rome"}}})
                    turn.state["city"] = "Paris"
                return str(turn.state)
            """)
        program.start(state={"unit": "C"})
        for text, changes, state in [
            ("Set", [{"city": "Oslo"}], "{'unit': 'C', 'city': 'Oslo'}"),
            ("Stay", [], "{'unit': 'C', 'city': 'Oslo'}"),
            ("Change", [{"city": "Rome"}, {"city": "Paris"}], "{'unit': 'C', 'city': 'Paris'}"),
        ]:
            answer = program.turn(text)
            events = [message["event"] for message in answer if message["type"] == "event"]
            self.assertEqual([event["actions"]["stateDelta"] for event in events if "actions" in event], changes)
            self.assertEqual(texts(answer), [state])
            self.assertEqual(answer[-1], {"type": "turn_end", "session_id": "s1"})

    def test_earlier_turns_and_the_state_are_there(self):
        program = self.program("""
            def agent(message, turn):
                turn.state["turns"] = turn.state.get("turns", 0) + 1
                if message == "Forget":
                    del turn.state["unit"]
                return f"{turn.session.user_id} {turn.state.get('unit')} {[one['content'] for one in turn.history]}"
            """)
        program.start(state={"unit": "C"})
        first = program.turn("Hi")
        self.assertEqual(texts(first), ["u C []"])
        self.assertEqual(first[-2]["event"], {"actions": {"stateDelta": {"turns": 1}}})
        self.assertEqual(first[-1], {"type": "turn_end", "session_id": "s1"})
        second = program.turn("Forget")
        self.assertEqual(texts(second), ["u None ['Hi', 'u C []']"])
        self.assertEqual(second[-1]["state"], {"turns": 2})

    def test_answers_of_all_kinds(self):
        program = self.program(
            """
            import dataclasses

            @dataclasses.dataclass
            class Weather:
                city: str

            def pieces(message):
                yield "It is "
                yield "sunny."

            async def async_pieces(message):
                yield "It is "
                yield "sunny."

            def fields(message, turn):
                turn.usage(11, 7, model="m-1")
                return Weather("Zürich")

            def said(message, turn):
                turn.text("One moment.", author="helper")
                turn.text("It is sunny.")
                return "It is sunny."

            def nothing(message):
                pass
            """,
            name="pieces",
        )
        expected = {
            "pieces": ["It is sunny."],
            "async_pieces": ["It is sunny."],
            "fields": ['{"city": "Zürich"}'],
            "said": ["One moment.", "It is sunny."],
            "nothing": [],
        }
        code = (self.folder / "agent.py").read_text()
        for name, answer in expected.items():
            with self.subTest(name):
                program = self.program(code, name=name)
                program.start()
                answered = program.turn("Hi")
                self.assertEqual(texts(answered), answer)
                usage = [
                    message["event"]["usageMetadata"] for message in answered if "usageMetadata" in message.get("event", {})
                ]
                tokens = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
                self.assertEqual(usage, [tokens] if name == "fields" else [])

    def test_a_function_that_returns_no_answer_is_told_to_return_it(self):
        program = self.program("""
            import evalset

            @evalset.tool
            def look():
                return 1

            def agent(message, turn):
                if message == "tool":
                    look()
                if message == "empty":
                    return " "
                if message == "said":
                    turn.text("Said.")
                if message == "image":
                    image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}
                    turn.event({"content": {"role": "model", "parts": [image]}})
                if message == "raised":
                    turn.fail("enough")
            """)
        for text, expected in [
            ("none", "the function returned None; return the answer"),
            ("tool", "the function returned None; return the answer"),
            ("empty", "the function returned an empty text; return the answer"),
            ("said", None),
            ("image", None),
            ("raised", "enough"),
        ]:
            with self.subTest(text):
                program.start(text)
                self.assertEqual(program.turn(text, session=text)[-1].get("message"), expected)

    def test_an_answer_that_json_cannot_show_is_an_error(self):
        program = self.program("""
            class Own:
                pass

            def agent(message):
                if message == "pieces":
                    return (piece for piece in ["a", Own()])
                return {
                    "object": Own(), "list": ["x", {"y": Own()}], "function": lambda: 1, "text": "<Own at 0x7f00>",
                }[message]
            """)
        program.start()
        for text, expected in [
            ("object", 'the answer is a `Own` that JSON cannot show: "<agent.Own object>"; return a text'),
            ("list", "the answer is a `list` that JSON cannot show"),
            ("pieces", "the answer is a `Own` that JSON cannot show"),
            ("function", 'JSON cannot show: "<function agent.<locals>.<lambda>>"; return'),
        ]:
            program.start(text)
            self.assertIn(expected, program.turn(text, session=text)[-1].get("message", ""))
        self.assertEqual(texts(program.turn("text")), ["<Own at 0x7f00>"])

    def test_values_that_json_lacks_become_texts(self):
        program = self.program("""
            import array, datetime, decimal, enum, evalset

            class Unit(enum.Enum):
                C = "celsius"

            @evalset.tool(name="look")
            def looks(*at, **more):
                return {
                    "numbers": [float("nan"), float("-inf"), 10**40, decimal.Decimal("1.5")],
                    "half": "\\ud800", "whole": "\\ud83d\\ude00", 1: Unit.C, "set": {"b", "a"},
                    "day": datetime.date(2026, 11, 26), "bytes": b"hi", "type": int, "object": None,
                    "array": array.array("i", [1, 2]),
                }

            def agent(message):
                looks(1, (2, 3), unit=Unit.C)
                return "\\udfff"
            """)
        program.start()
        answer = program.turn("Hi")
        asked, results = calls(answer)
        self.assertEqual(asked, [("look", {"at": [1, [2, 3]], "unit": "celsius"})])
        expected = {
            "numbers": ["nan", "-inf", 10**40, "1.5"],
            "half": "\ufffd",
            "whole": "\U0001f600",
            "1": "celsius",
            "set": ["a", "b"],
            "day": "2026-11-26",
            "bytes": "aGk=",
            "type": "int",
            "object": None,
            "array": [1, 2],
        }
        self.assertEqual(results, [expected])
        self.assertEqual(texts(answer), ["\ufffd"])

    def test_parts_that_are_no_text_are_read_or_an_error(self):
        program = self.program("""
            def agent(message):
                return "blind"

            def careless(message, turn):
                return "careless"

            def sees(message, turn):
                return f"{message}: {turn.content['parts'][1]['inlineData']['mimeType']}"
            """)
        code = (self.folder / "agent.py").read_text()
        for name in ("agent", "careless"):
            program = self.program(code, name=name)
            program.start()
            answer = program.turn("What is this?", IMAGE)
            self.assertIn("has a part `inlineData`, and the agent read its text alone", answer[-1]["message"])
        program = self.program(code, name="sees")
        program.start()
        self.assertEqual(texts(program.turn("What is this?", IMAGE)), ["What is this?: image/png"])

    def test_a_turn_and_a_session_are_given_by_name_or_annotation(self):
        for name, code in [
            ("named", "def named(message, turn): return turn.session.user_id"),
            ("annotated", "def annotated(message, t: evalset.Turn): return t.session.user_id"),
            ("text", "def text(message, t: 'Turn | None'): return t.session.user_id"),
            ("optional", "def optional(message, t: typing.Optional[evalset.Turn] = None): return t.session.user_id"),
            ("other", "def other(message, retries=3): return 'u' * (retries == 3)"),
            ("method", "class method:\n def __init__(self, s: evalset.Session): self.s = s\n def turn(self, m): return self.s.user_id"),
            ("default", "class default:\n def __init__(self, client='u'): self.c = client\n def turn(self, m): return self.c"),
        ]:
            with self.subTest(name):
                program = self.program(f"import evalset, typing\n{code}\n", name=name)
                program.start()
                self.assertEqual(texts(program.turn("Hi")), ["u"])

    def test_a_script_serves_its_agent(self):
        program = self.program(
            """
            import evalset
            print("before")
            evalset.serve(lambda message: message.upper())
            """,
            words=["agent.py"],
        )
        program.start()
        self.assertEqual(texts(program.turn("hi")), ["HI"])
        self.assertEqual(program.end(), 0)
        self.assertIn("before", program.stderr)


if __name__ == "__main__":
    unittest.main()
