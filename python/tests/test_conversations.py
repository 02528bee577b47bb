"""Several conversations in one process, and how they end."""

import json
import signal
import subprocess
import sys
import time
import unittest

from driver import PACKAGE, ProgramTest, calls, texts


class Conversations(ProgramTest):
    def test_turns_of_several_conversations_run_at_the_same_time(self):
        for word, wait in [("", "meeting.wait(60)"), ("async ", "await meet()")]:
            with self.subTest(wait):
                program = self.program(f"""
                    import asyncio, threading
                    meeting = threading.Barrier(2)
                    here = []

                    async def meet():
                        here.append(1)
                        while len(here) < 2:
                            await asyncio.sleep(0)

                    {word}def agent(message):
                        {wait}
                        return message
                    """)
                program.start("s1")
                program.start("s2")
                program.ask("a", session="s1")
                program.ask("b", session="s2")
                messages = [program.read() for _ in range(4)]
                for session, text in [("s1", "a"), ("s2", "b")]:
                    self.assertEqual(texts([one for one in messages if one["session_id"] == session]), [text])

    def test_contexts_last_as_long_as_their_conversation_and_do_not_leak(self):
        for word in ("", "async "):
            with self.subTest(word):
                program = self.program(f"""
                    import contextvars
                    seen = contextvars.ContextVar("seen", default="")

                    {word}def agent(message):
                        seen.set(seen.get() + message)
                        return seen.get()
                    """)
                program.start("s1")
                program.start("s2")
                self.assertEqual(texts(program.turn("a", session="s1")), ["a"])
                self.assertEqual(texts(program.turn("b", session="s2")), ["b"])
                self.assertEqual(texts(program.turn("c", session="s1")), ["ac"])

    def test_a_record_after_the_end_of_its_turn_is_an_error(self):
        program = self.program("""
            import pathlib, threading, time
            kept = []

            def agent(message, turn):
                if message == "keep":
                    kept.append(turn)
                if message == "now":
                    kept[0].text("late")
                return message

            def after():
                while not pathlib.Path("go").exists():
                    time.sleep(0.01)
                kept[0].text("late")

            threading.Thread(target=after, daemon=True).start()
            """)
        program.start()
        program.turn("keep")
        self.assertIn("recorded something after its turn had ended", program.turn("now")[-1]["message"])
        # Between turns, no question is open.
        (self.folder / "go").touch()
        self.assertIn("recorded something after its turn had ended", program.read()["message"])

    def test_a_tool_in_a_thread_that_knows_no_turn(self):
        program = self.program("""
            import contextvars, threading
            import evalset
            meeting = threading.Barrier(2)

            @evalset.tool
            def look():
                return 1

            def agent(message):
                if message != "alone":
                    meeting.wait(60)
                if message != "other":
                    target = contextvars.copy_context().run if message == "copied" else lambda call: call()
                    thread = threading.Thread(target=target, args=[look])
                    thread.start()
                    thread.join()
                if message != "alone":
                    meeting.wait(60)
                return message
            """)
        program.start("s1")
        program.start("s2")
        self.assertEqual(calls(program.turn("alone", session="s1")), ([("look", {})], [{"result": 1}]))
        program.ask("copied", session="s1")
        program.ask("other", session="s2")
        self.assertEqual(calls(program.answer() + program.answer()), ([("look", {})], [{"result": 1}]))
        program.ask("here", session="s1")
        program.ask("other", session="s2")
        errors = [message for message in (program.answer() + program.answer()) if message["type"] == "error"]
        self.assertEqual({error["session_id"] for error in errors}, {"s1", "s2"})
        self.assertIn("the tool `look` was called in a thread that belongs to no turn, while 2 turns ran", errors[0]["message"])

    def test_a_conversation_that_is_ended_in_a_turn_is_cut_short(self):
        for word, hang in [
            ("", "time.sleep(600)"),
            ("async ", "await asyncio.sleep(600)"),
            ("async ", "await asyncio.to_thread(time.sleep, 600)"),
        ]:
            with self.subTest(hang):
                program = self.program(f"""
                    import asyncio, atexit, time
                    atexit.register(print, "the end")

                    {word}def agent(message, turn):
                        turn.text("working")
                        {hang}
                    """)
                program.start()
                program.ask("Hi")
                program.read()
                # Longer than messages that come at once.
                time.sleep(0.7)
                program.write(type="end", session_id="s1")
                self.assertEqual(program.end(), 0)
                self.assertIn("the end", program.stderr)

    def test_messages_that_come_at_once_are_all_answered(self):
        self.program("def agent(message):\n    return message\n").end()
        messages = [{"type": "start", "session_id": "s", "state": {}}]
        messages += [{"type": "turn", "session_id": "s", "content": {"parts": [{"text": text}]}} for text in "abc"]
        sent = "".join(json.dumps(message) + "\n" for message in [*messages, {"type": "end", "session_id": "s"}])
        env = {"PYTHONPATH": str(PACKAGE)}
        words = [sys.executable, "-m", "evalset", "agent:agent"]
        done = subprocess.run(words, cwd=self.folder, env=env, input=sent, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(texts(map(json.loads, done.stdout.splitlines())), ["a", "b", "c"])

    def test_functions_for_the_end_of_the_process_are_called(self):
        program = self.program("""
            import atexit
            atexit.register(print, "the end")

            def agent(message):
                return message
            """)
        program.start()
        self.assertEqual(program.end(), 0)
        self.assertIn("the end", program.stderr)

    @unittest.skipIf(sys.platform == "win32", "Windows has no such signal")
    def test_an_interrupt_ends_the_program_with_0(self):
        program = self.program("def agent(message):\n    return message\n")
        program.start()
        program.process.send_signal(signal.SIGINT)
        self.assertEqual(program.process.wait(20), 0)

    @unittest.skipIf(sys.platform == "win32", "Windows has no such signal")
    def test_an_interrupt_in_a_turn_ends_the_program(self):
        program = self.program("""
            import asyncio

            async def agent(message, turn):
                turn.text("working")
                await asyncio.sleep(600)
            """)
        program.start()
        program.ask("Hi")
        program.read()
        program.process.send_signal(signal.SIGINT)
        self.assertEqual(program.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
