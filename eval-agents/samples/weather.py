#!/usr/bin/env python3
"""An agent in Python: the protocol of eval-agents' `Process` on standard input and output.

It serves any number of conversations at the same time.
"""

import json
import re
import sys


def write(message):
    # Python keeps lines back where its output is a pipe.
    print(json.dumps(message), flush=True)


def get_weather(city):
    if city == "Nowhere":
        raise ValueError("no such city")
    return {"sky": "sunny", "city": city}


def answer(session_id, content):
    """Says what the agent does about one message of the user."""
    text = " ".join(part.get("text", "") for part in content["parts"])
    images = sum("inlineData" in part for part in content["parts"])
    if images:
        write({"type": "text", "session_id": session_id, "text": f"I see {images} image."})
        return
    found = re.search(r"[Ww]eather in (\w+)", text)
    if not found:
        write({"type": "text", "session_id": session_id, "text": "Ask me about the weather."})
        return
    city = found[1]
    weather = get_weather(city)
    write({"type": "tool_call", "session_id": session_id, "name": "get_weather", "args": {"city": city}, "result": weather})
    # What `text` has no key for goes in an event of ADK.
    event = {
        "author": "weather_agent",
        "content": {"role": "model", "parts": [{"text": f"It is sunny in {city}."}]},
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18},
        "actions": {"stateDelta": {"last_city": city}},
    }
    write({"type": "event", "session_id": session_id, "event": event})


def main():
    write({"type": "hello", "protocol": 1})
    for line in sys.stdin:
        message = json.loads(line)
        session_id = message.get("session_id")
        if message["type"] == "start":
            write({"type": "started", "session_id": session_id})
        elif message["type"] == "turn":
            try:
                answer(session_id, message["content"])
            except Exception as error:
                write({"type": "error", "session_id": session_id, "message": f"{type(error).__name__}: {error}"})
            else:
                write({"type": "turn_end", "session_id": session_id})
        # `end`, and what a later version adds, needs no answer.


main()
