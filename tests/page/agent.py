"""A weather agent in the protocol of programs that makes one mistake of each kind, for a page to look at."""

import json
import os
import sys
import time


def say(**message):
    print(json.dumps(message), flush=True)


def call(name, args, result):
    say(type="tool_call", name=name, args=args, result=result)


def answer(text, city):
    usage = {"promptTokenCount": 310, "candidatesTokenCount": 22, "totalTokenCount": 332}
    say(
        type="event",
        event={
            "author": "weather",
            "content": {"role": "model", "parts": [{"text": text}]},
            "modelVersion": "weather-2.1",
            "usageMetadata": usage,
            "actions": {"stateDelta": {"last_city": city}},
        },
    )


def wait():
    """With PACE=gate, waits until the file `gate` allows so many turns, for a test that looks on."""
    if os.environ.get("PACE") != "gate":
        return
    number = counted("turn")
    while True:
        try:
            if int(open("gate").read() or 0) >= number:
                return
        except (FileNotFoundError, ValueError):
            pass
        time.sleep(0.05)


def turn(text):
    wait()
    if "Atlantis" in text:
        call("get_weather", {"city": "Atlantis", "unit": "celsius"}, {"error": "timeout"})
        return say(type="error", message="the weather service did not answer: 503 Service Unavailable")
    if "Paris" in text:
        call("get_weather", {"city": "Paris", "unit": "celsius"}, {"sky": "sunny", "degrees": 21})
        answer("It is sunny in Paris today, 21 degrees celsius.", "Paris")
    elif "Oslo" in text:
        call("get_weather", {"city": "Oslo", "unit": "celsius"}, {"sky": "cloudy", "degrees": 9})
        answer("It is cloudy in Oslo today, 9 degrees celsius.", "Oslo")
    elif "umbrella" in text:
        call("get_weather", {"city": "Oslo", "unit": "celsius"}, {"sky": "cloudy", "degrees": 9})
        call("get_forecast", {"city": "Oslo", "days": 7}, {"sky": "rainy"})
        answer("It will be rainy in Oslo this week, so you might <b>consider</b> an umbrella.", "Oslo")
    else:
        # Every third time it forgets the unit.
        unit, degrees = ("celsius", 12) if counted("asked") % 3 == 2 else ("fahrenheit", 53)
        call("get_weather", {"city": "Chicago", "unit": unit}, {"sky": "windy", "degrees": degrees})
        answer(f"It is windy in Chicago today, {degrees} degrees {unit}.", "Chicago")
    return say(type="turn_end")


def counted(what):
    """How often something happened in this folder. Each run has a process of its own."""
    number = 1
    while True:
        try:
            os.close(os.open(f"{what}-{number}", os.O_CREAT | os.O_EXCL))
            return number
        except FileExistsError:
            number += 1


say(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        say(type="started")
    elif message["type"] == "turn":
        turn(message["content"]["parts"][0]["text"])
