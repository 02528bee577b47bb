"""Conversations that the agents of all frameworks have: what the scripted model puts out, and what the tools do."""

import os
import time

# The variable makes the agent another one: `arguments` changes an argument.
CHANGE = os.environ.get("STORY_CHANGE", "")
PROMPTS = [
    {"id": "memory", "turns": ["What is the weather in Paris?", "What did I ask?"]},
    {"id": "parallel", "turns": ["Compare Oslo and Bergen"]},
    {"id": "failing", "turns": ["Delete it"]},
    {"id": "handoff", "turns": ["Call the nurse", "Are you there?"]},
    {"id": "down", "turns": ["Break"]},
]


def step(users: list[str], number: int) -> tuple[str, list[tuple[str, dict]]]:
    """A text and calls, after `number` answers to the last of the user's messages. A call of `@nurse` is a handoff."""
    paris = "Rome" if CHANGE == "arguments" else "Paris"
    steps = {
        "What is the weather in Paris?": [("", [("get_weather", {"city": paris})]), ("It is sunny in Paris.", [])],
        "What did I ask?": [(f"You asked: {users[0]}", [])],
        "Compare Oslo and Bergen": [
            ("One moment.", [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Bergen"})]),
            ("Rain in both.", []),
        ],
        "Delete it": [("", [("delete", {"number": 7})]), ("It is locked.", [])],
        "Call the nurse": [("", [("@nurse", {})]), ("This is the nurse.", [])],
        "Are you there?": [("The nurse is here.", [])],
        "What is this? [image/png]": [("A picture.", [])],
    }
    if users[-1] == "Break":
        raise RuntimeError("the model is down")
    return steps[users[-1]][number]


def said(content) -> str:
    """What the model was told: texts, and the types of files."""
    if isinstance(content, str):
        return content
    words = []
    for part in content:
        fields = part if isinstance(part, dict) else {} if isinstance(part, str) else vars(part)
        file = str(fields.get("mime_type") or fields.get("media_type") or fields.get("_media_type") or fields.get("image_url"))
        words.append(
            part if isinstance(part, str) else fields.get("text") or f"[{file.removeprefix('data:').partition(';')[0]}]"
        )
    return " ".join(words)


def get_weather(city: str) -> dict:
    """The weather in a city."""
    # The call that was asked for first ends last.
    time.sleep(0.1 if city == "Oslo" else 0)
    return {"sky": "rain" if city in ("Oslo", "Bergen") else "sunny", "city": city}


def delete(number: int) -> str:
    """Deletes a file."""
    raise ValueError(f"file {number} is locked")
