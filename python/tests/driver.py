"""The other side of the protocol: programs that are started and spoken to as by the command."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


class Program:
    """A running agent."""

    def __init__(self, folder, words):
        env = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"} | {"PYTHONPATH": str(PACKAGE)}
        pipe = subprocess.PIPE
        # A job in the background ignores interrupts, and a program would inherit that.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.process = subprocess.Popen([sys.executable, *words], cwd=folder, env=env, stdin=pipe, stdout=pipe, stderr=pipe)
        finally:
            signal.signal(signal.SIGINT, before)
        self.stderr = ""

    def write(self, **message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the program ended: {self.process.stderr.read().decode()}")
        return json.loads(line)

    def start(self, session="s1", **fields):
        """Begins a conversation; its answer."""
        self.write(
            **{"type": "start", "session_id": session, "protocol": 1, "app_name": "a", "user_id": "u", "state": {}, **fields}
        )
        return self.read()

    def ask(self, *parts, session="s1"):
        """Sends a message of texts and other parts."""
        sent = [{"text": part} if isinstance(part, str) else part for part in parts]
        self.write(type="turn", session_id=session, content={"role": "user", "parts": sent})

    def turn(self, *parts, session="s1"):
        """Sends a message; all that is answered to it."""
        self.ask(*parts, session=session)
        return self.answer()

    def answer(self):
        found = [self.read()]
        while found[-1]["type"] not in ("turn_end", "error"):
            found.append(self.read())
        return found

    def end(self):
        """Ends the input; the exit code."""
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.stderr = self.process.stderr.read().decode()
        code = self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
        if rest:
            raise AssertionError(f"more was written: {rest.decode()}")
        return code


class ProgramTest(unittest.TestCase):
    """Tests of agents, each with the code of its agent."""

    def program(self, code, name="agent", words=None, files=()):
        """Starts `agent.py` with this code, beside empty files."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "agent.py").write_text(textwrap.dedent(code))
        for file in files:
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / file).write_text("")
        program = Program(folder.name, words or ["-m", "evalset", f"agent:{name}"])
        self.addCleanup(self.stop, program)
        self.assertEqual(program.read(), {"type": "hello", "protocol": 1})
        return program

    def stop(self, program):
        if program.process.poll() is None:
            program.process.kill()
            program.process.wait()
        for pipe in (program.process.stdin, program.process.stdout, program.process.stderr):
            pipe.close()


def texts(answer):
    """The texts in what a turn answered."""
    return [part["text"] for part in parts(answer) if "text" in part]


def parts(answer):
    contents = [message["event"].get("content", {}) for message in answer if message["type"] == "event"]
    return [part for content in contents for part in content.get("parts", [])]


def calls(answer):
    """The calls with their arguments, and the results in their order."""
    asked = [(part["functionCall"]["name"], part["functionCall"]["args"]) for part in parts(answer) if "functionCall" in part]
    return asked, [part["functionResponse"]["response"] for part in parts(answer) if "functionResponse" in part]
