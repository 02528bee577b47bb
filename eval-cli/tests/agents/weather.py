"""A weather agent in the protocol of `Process`. It does not know Atlantis, and takes its time for Timbuktu."""

import json
import re
import sys
import time


def say(**message):
    print(json.dumps(message), flush=True)


say(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        say(type="started")
    elif message["type"] == "turn":
        city = re.search(r"weather in (\w+)", message["content"]["parts"][0]["text"])[1]
        if city == "Atlantis":
            say(type="error", message="there is no weather station in Atlantis")
            continue
        if city == "Timbuktu":
            time.sleep(600)
        say(type="tool_call", name="get_weather", args={"city": city}, result={"sky": "sunny"})
        answer = {"role": "model", "parts": [{"text": f"It is sunny in {city}."}]}
        usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
        delta = {"stateDelta": {"last_city": city}}
        say(type="event", event={"author": "weather", "content": answer, "usageMetadata": usage, "actions": delta})
        say(type="turn_end")
