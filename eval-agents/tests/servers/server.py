#!/usr/bin/env python3
"""A server with the routes of `adk api_server`, for tests of how servers are started and ended.

    server.py [--mode MODE] [--golden] --port PORT

It says on each start who it is in the file that STARTS names. Modes: `stubborn` ignores SIGTERM and has a child that does,
`mute` never listens, `broken` ends at once, `taken` does so the first time, `dies` ends in the first turn, `dies_once` does so
in the first turn of the first server, `fails` answers sessions with 500 and says why a moment later, `answers500` answers each
question whether it is ready with 500, and so for other statuses.

With `--golden` it loads plugins as ADK does, and its turns call the tool `look`. The app `broken` fails before its plugins are
loaded. After a turn with the word `late` the tool is called once more, when the session is deleted.
"""

import argparse
import asyncio
import http.server
import importlib
import json
import os
import signal
import subprocess
import sys
import time
import types
import uuid

options = argparse.ArgumentParser()
options.add_argument("--mode", default="")
options.add_argument("--port", type=int, required=True)
options.add_argument("--golden", action="store_true")
if {"--mode=lenient", "--golden"} & set(sys.argv):
    options.add_argument("--extra_plugins")
options = options.parse_args()


def note(*pids):
    with open(os.environ["STARTS"], "a", encoding="utf-8") as file:
        file.write("".join(f"{pid}\n" for pid in pids))


def starts():
    with open(os.environ["STARTS"], encoding="utf-8") as file:
        return file.read().count("\n")


class BasePlugin:
    """What ADK's plugins are made of."""

    def __init__(self, name):
        self.name = name


class Look:
    """A tool that notes that it runs."""

    name = "look"

    async def run_async(self, *, args, tool_context):
        note_beside("real", "look")
        return {"sky": "REAL"}


def note_beside(kind, text):
    with open(f"{os.environ['STARTS']}.{kind}", "a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def load_plugin():
    """The plugin of an app. Its module is imported once."""
    module, _, name = options.extra_plugins.rpartition(".")
    return getattr(importlib.import_module(module), name)()


def call_look(plugin, user, session):
    """The result of the tool, as ADK calls it: a tool that raises is its message."""
    context = types.SimpleNamespace(state={}, session=types.SimpleNamespace(user_id=user, id=session))

    async def call():
        tool = Look()
        if plugin is not None:
            await plugin.before_tool_callback(tool=tool, tool_args={}, tool_context=context)
        return await tool.run_async(args={}, tool_context=context)

    try:
        return asyncio.run(call())
    except Exception as error:
        return {"error": str(error)}


plugins = {}
late = {}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if options.mode.startswith("answers"):
            self.answer({"detail": "no"}, int(options.mode[len("answers") :]))
        elif self.path == "/list-apps":
            self.answer(["echo", "broken"] if options.golden else ["echo"])
        elif "/sessions/" in self.path:
            self.answer({"id": "s", "state": {}})
        else:
            self.send_error(404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if options.golden and self.path == "/run":
            if body["appName"] == "broken":
                self.answer("Internal Server Error", 500)
                return
            plugins[body["appName"]] = load_plugin()
            self.answer({"detail": "Session not found"}, 404)
        elif self.path == "/run_sse":
            if options.mode == "dies" or options.mode == "dies_once" and starts() == 1:
                print("out of memory", file=sys.stderr, flush=True)
                os._exit(7)
            if "wait" in body["newMessage"]["parts"][0]["text"]:
                print("waiting", flush=True)
                time.sleep(60)
            text = f"pid {os.getpid()}"
            if options.golden:
                of = plugins.get(body["appName"]), body["userId"], body["sessionId"]
                if "late" in body["newMessage"]["parts"][0]["text"]:
                    late[body["sessionId"]] = of
                else:
                    note_beside("asked", "look")
                    text = json.dumps(call_look(*of))
            event = {"author": "echo", "content": {"parts": [{"text": text}]}}
            data = f"data: {json.dumps(event)}\n\n".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        elif options.mode == "fails":
            self.answer("Internal Server Error", 500)
            self.wfile.flush()
            time.sleep(0.1)
            frames = "".join(f'  File "/site/{number}.py", line 7, in app\n    await self.app()\n' for number in range(100))
            error = "ModuleNotFoundError: No module named 'missing'"
            print(f"Traceback (most recent call last):\n{frames}{error}", file=sys.stderr, flush=True)
        else:
            id = str(uuid.uuid4()) if options.golden else "s"
            self.answer({"id": id, "state": body.get("state") or {}})

    def do_DELETE(self):
        of = late.pop(self.path.rpartition("/")[2], None)
        if of:
            note_beside("late", json.dumps(call_look(*of)))
        self.answer(None)

    def answer(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


pids = [os.getpid()]
if options.mode == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pids.append(subprocess.Popen(["sleep", "300"]).pid)
note(*pids)
if options.golden:
    for name in ("google", "google.adk", "google.adk.plugins", "google.adk.plugins.base_plugin"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["google.adk.plugins.base_plugin"].BasePlugin = BasePlugin
    for path in [os.path.join(folder, "evalset_golden_tools.json") for folder in sys.path]:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                note_beside("token", json.load(file)["token"])
if options.mode == "broken":
    sys.exit("no such folder: agents")
if options.mode == "taken" and starts() == 1:
    sys.exit("OSError: [Errno 98] Address already in use")
if options.mode == "mute":
    print("loading", flush=True)
    time.sleep(300)
http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()
