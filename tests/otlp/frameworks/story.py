"""The conversations that every framework plays: what the user says, what the scripted model answers, and what the tools do.

A tool notes each of its calls, so that what happened is known apart from any trace.
"""

import json

# What the user says, and what the model puts out in each step: a text, calls of tools, or both.
STORIES = {
    "turns": [
        ("What is the weather in Paris?", [("", [("get_weather", {"city": "Paris"})]), ("It is sunny in Paris.", [])]),
        (
            "And in Oslo and Bergen, and what time is it?",
            [
                ("One moment.", [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Bergen"}), ("now", {})]),
                ("", [("book", {"day": "Monday", "hours": [9, 10], "note": None})]),
                ("Rain in both, and it is noon. A table is booked.", []),
            ],
        ),
        ("Thanks", [("You are welcome.", [])]),
    ],
    # A tool whose only argument looks like the arguments of a tool.
    "texts": [
        ("Save it", [("", [("save", {"text": '{"city": "Rome"}'})]), ("Saved.", [])]),
        ("And this", [("", [("save", {"text": "[1, 2]"}), ("save", {"text": ""})]), ("Saved too.", [])]),
    ],
    "failing": [
        ("Delete it", [("", [("fail", {"why": "locked"})]), ("It is locked.", [])]),
        ("Then book Monday", [("", [("book", {"day": "Monday", "hours": [], "note": "late"})]), ("Booked.", [])]),
    ],
    # The model fails in the first turn, and the user tries again.
    "down": [("Are you there?", [("error", [])]), ("And now?", [("", [("now", {})]), ("Yes, it is noon.", [])])],
    # Another agent answers: by a handoff, or behind a tool.
    "handoff": [
        ("Call the nurse", [("", [("@nurse", {})]), ("This is the nurse.", [])]),
        ("Is she there?", [("Yes, she is.", [])]),
    ],
    "behind": [
        ("Ask the helper", [("", [("@helper", {"request": "Help with Paris"})]), ("The helper says: sunny.", [])]),
        ("And what does it know?", [("Little.", [])]),
    ],
    # What the agent behind the tool does.
    "helper": [("Help with Paris", [("", [("get_weather", {"city": "Paris"})]), ("Sunny.", [])])],
}

ALL = {user: steps for turns in STORIES.values() for user, steps in turns}

# The calls of tools of the turn that is played.
CALLS = []


def note(name, args, result):
    CALLS.append({"name": name, "args": args, "result": result})
    return result


def get_weather(city: str) -> dict:
    """The weather in a city."""
    return note("get_weather", {"city": city}, {"sky": "sunny" if city == "Paris" else "rain", "city": city})


def now() -> str:
    """The time."""
    return note("now", {}, "12:00")


def book(day: str, hours: list[int], note: str | None) -> dict:
    """Books a table."""
    return globals()["note"]("book", {"day": day, "hours": hours, "note": note}, {"day": day, "seats": 2})


def save(text: str) -> str:
    """Saves a text."""
    return note("save", {"text": text}, "saved")


def fail(why: str) -> dict:
    """Fails."""
    note("fail", {"why": why}, None)
    raise ValueError(why)


TOOLS = [get_weather, now, book, save, fail]


def step(user, number):
    """What the model puts out after `number` answers to what the user said: a text, and calls with arguments."""
    text, calls = ALL[user][number]
    if text == "error":
        raise RuntimeError("the model is down")
    return text, calls


class Truth:
    """What happened, turn by turn."""

    def __init__(self):
        self.turns = []

    def turn(self, user, answer, failed=False):
        self.turns.append({"user": user, "calls": list(CALLS), "answer": answer, "failed": failed})
        CALLS.clear()

    def call(self, name, args, result=None):
        """A call that no function here has: of another agent."""
        CALLS.append({"name": name, "args": args, "result": result})

    def write(self, path):
        with open(path, "w") as file:
            json.dump(self.turns, file, indent=1)
