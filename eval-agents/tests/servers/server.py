#!/usr/bin/env python3
"""A server with the routes of `adk api_server`, for tests of how servers are started and ended.

    server.py [--mode MODE] --port PORT

It says on each start who it is in the file that STARTS names. Modes: `stubborn` ignores SIGTERM and has a child that does,
`mute` never listens, `broken` ends at once, `taken` does so the first time, `dies` ends in the first turn, `dies_once` does so
in the first turn of the first server, `fails` answers sessions with 500 and says why a moment later.
"""

import argparse
import http.server
import json
import os
import signal
import subprocess
import sys
import time

options = argparse.ArgumentParser()
options.add_argument("--mode", default="")
options.add_argument("--port", type=int, required=True)
if "--mode=lenient" in sys.argv:
    options.add_argument("--extra_plugins")
options = options.parse_args()


def note(*pids):
    with open(os.environ["STARTS"], "a", encoding="utf-8") as file:
        file.write("".join(f"{pid}\n" for pid in pids))


def starts():
    with open(os.environ["STARTS"], encoding="utf-8") as file:
        return file.read().count("\n")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/list-apps":
            self.answer(["echo"])
        elif "/sessions/" in self.path:
            self.answer({"id": "s", "state": {}})
        else:
            self.send_error(404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/run_sse":
            if options.mode == "dies" or options.mode == "dies_once" and starts() == 1:
                print("out of memory", file=sys.stderr, flush=True)
                os._exit(7)
            if "wait" in body["newMessage"]["parts"][0]["text"]:
                print("waiting", flush=True)
                time.sleep(60)
            event = {"author": "echo", "content": {"parts": [{"text": f"pid {os.getpid()}"}]}}
            data = f"data: {json.dumps(event)}\n\n".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        elif options.mode == "fails":
            self.answer("Internal Server Error", 500)
            self.wfile.flush()
            time.sleep(0.1)
            print("Traceback\nModuleNotFoundError: No module named 'missing'", file=sys.stderr, flush=True)
        else:
            self.answer({"id": "s", "state": {}})

    def do_DELETE(self):
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
if options.mode == "broken":
    sys.exit("no such folder: agents")
if options.mode == "taken" and starts() == 1:
    sys.exit("OSError: [Errno 98] Address already in use")
if options.mode == "mute":
    print("loading", flush=True)
    time.sleep(300)
http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()
