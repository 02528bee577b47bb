"""A desk whose behaviour changed: some of it is right, some is wrong, some varies from run to run."""
import json
import os
import sys

COUNTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "counter")


def say(**message):
    print(json.dumps(message), flush=True)


def call(name, **args):
    say(type="tool_call", name=name, args=args, result="ok")


def count():
    """How often it was asked for a sum, so that runs differ in a known way."""
    number = int(open(COUNTER).read()) if os.path.exists(COUNTER) else 0
    open(COUNTER, "w").write(str(number + 1))
    return number


def answer(text):
    if text == "Weather in Paris?":
        call("get_weather", city="Paris")
        return "Paris has clear skies today, 23 November 2026."
    if text == "And in Oslo?":
        call("get_weather", city="Oslo", day="2026-11-23")
        return "It rains in Oslo."
    if text == "Book Anna a table":
        call("find", who="Anna")
        call("check_calendar", id=7)
        call("book", id=7)
        return "Booked."
    if text == "Plan a trip":
        call("get_weather", city="Oslo", day="2026-11-23")
        call("book", id=7)
        return "Booked, all of it."
    if text == "Sum 2 and 3":
        number = count()
        if number % 5 != 3:
            call("add", a=2, b=3)
        return ["The sum is five", "Five", "2 + 3 = 5", "The sum is five", "It is 5."][number % 5]
    said = {
        "Hi": "Good morning to you.",
        "Refund A-17": "The refund of A-17 is on its way.",
        "Bye": "Goodbye.",
        "Key?": "It is AKIA" + "IOSFODNN7EXAMPLE.",
        "Odd?": "Odd:\u202e \u001b[2J ok",
    }
    return said.get(text, "Welcome.")


say(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        say(type="started")
    elif message["type"] == "turn":
        say(type="text", text=answer(message["content"]["parts"][0]["text"]))
        say(type="turn_end")
