"""A program that answers each message of the user with the events of a script. `runs.py` starts it."""

import json
import pathlib
import sys


def say(message):
    print(json.dumps(message), flush=True)


script = json.loads(pathlib.Path(sys.argv[1]).read_text())
say({"type": "hello", "protocol": 1})
for line in sys.stdin:
    message = json.loads(line)
    session = {"session_id": message["session_id"]}
    if message["type"] == "start":
        say({"type": "started", **session})
    elif message["type"] == "turn":
        for event in script[message["content"]["parts"][0]["text"]]:
            say({"type": "event", "event": event, **session})
        say({"type": "turn_end", **session})
