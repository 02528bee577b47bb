"""The agent of the README's commands: a program that speaks the protocol of programs, or a server with the routes of ADK.

    python3 agent.py
    adk api_server .. --port PORT
"""

import http.server
import json
import sys


def reply(content):
    text = content["parts"][0]["text"]
    city, sky = ("Oslo", "rainy") if "Oslo" in text else ("Paris", "sunny")
    return {"city": city}, sky, f"It is {sky} in {city}."


def write(message):
    print(json.dumps(message), flush=True)


def program():
    write({"type": "hello", "protocol": 1})
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "start":
            write({"type": "started"})
        elif message["type"] == "turn":
            args, sky, answer = reply(message["content"])
            write({"type": "tool_call", "name": "get_weather", "args": args, "result": sky})
            write({"type": "text", "text": answer})
            write({"type": "turn_end"})


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(json.dumps(["weather"] if self.path == "/list-apps" else {"id": "s", "state": {}}))

    def do_DELETE(self):
        self.answer("null")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/run_sse":
            return self.answer(json.dumps({"id": "s", "state": {}}))
        args, sky, answer = reply(body["newMessage"])
        parts = [
            ("model", {"functionCall": {"id": "1", "name": "get_weather", "args": args}}),
            ("user", {"functionResponse": {"id": "1", "name": "get_weather", "response": {"result": sky}}}),
            ("model", {"text": answer}),
        ]
        events = [{"author": "weather", "content": {"role": role, "parts": [part]}} for role, part in parts]
        self.answer("".join(f"data: {json.dumps(event)}\n\n" for event in events))

    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


if "api_server" in sys.argv:
    port = int(sys.argv[sys.argv.index("--port") + 1])
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Server).serve_forever()
else:
    program()
