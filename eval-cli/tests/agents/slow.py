"""An agent that takes its time: a program in the protocol of `Process`, or with `--port` a server with ADK's routes.

It notes in the file that NOTES names which process it is, `process PID GROUP`, and each answer before it is sent.
"""

import http.server
import json
import os
import sys
import time


def note(text):
    with open(os.environ["NOTES"], "a", encoding="utf-8") as file:
        file.write(text + "\n")


def answer(content):
    time.sleep(0.25)
    city = content["parts"][0]["text"].rstrip("?").rsplit(" ", 1)[1]
    call = {"functionCall": {"id": "1", "name": "get_weather", "args": {"city": city}}}
    result = {"functionResponse": {"id": "1", "name": "get_weather", "response": {"sky": "sunny"}}}
    says = {"text": f"It is sunny in {city}."}
    note("answered " + city)
    for part in (call, result, says):
        yield {"author": "weather", "content": {"role": "model", "parts": [part]}}


def say(**message):
    print(json.dumps(message), flush=True)


def program():
    say(type="hello", protocol=1)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "start":
            say(type="started")
        elif message["type"] == "turn":
            for event in answer(message["content"]):
                say(type="event", event=event)
            say(type="turn_end")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/list-apps":
            self.answer(json.dumps(["weather"]))
        elif "/sessions/" in self.path:
            self.answer(json.dumps({"id": "s", "state": {}}))
        else:
            self.send_error(404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/run_sse":
            self.answer("".join(f"data: {json.dumps(event)}\n\n" for event in answer(body["newMessage"])))
        else:
            self.answer(json.dumps({"id": "s", "state": {}}))

    def do_DELETE(self):
        self.answer("null")

    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


note(f"process {os.getpid()} {os.getpgrp()}")
if "--port" in sys.argv:
    port = int(sys.argv[sys.argv.index("--port") + 1])
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
else:
    program()
