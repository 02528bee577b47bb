"""The front desk of the sample `hotel` in the protocol of `Process`."""

import json
import re
import sys

PRICES = {"Lisbon": 90, "Paris": 140, "Vienna": 110}
NUMBERS = {"one": 1, "two": 2, "three": 3}


def say(**message):
    print(json.dumps(message), flush=True)


def counted(nights):
    return "1 night" if nights == 1 else f"{nights} nights"


def nights_in(message):
    for word in re.findall(r"[a-z0-9]+", message):
        if word in NUMBERS or (word.isdigit() and 1 <= int(word) <= 14):
            return NUMBERS.get(word) or int(word)
    return None


say(type="hello", protocol=1)
city = nights = None
offered = False
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        say(type="started")
    if message["type"] != "turn":
        continue
    text = message["content"]["parts"][0]["text"].lower()
    city = next((name for name in PRICES if name.lower() in text), city)
    nights = nights_in(text) or nights
    if city is None:
        answer = "Which city are you travelling to?"
    elif offered and any(word in text for word in ("no,", "not ", "too ")):
        answer = "All right, nothing is booked."
    elif offered and nights:
        booking = {"city": city, "nights": nights}
        number = f"{city[0]}-{nights}"
        say(type="tool_call", name="book_room", args=booking, result=number)
        say(type="event", event={"actions": {"stateDelta": {"booking": booking}}})
        answer = f"It is booked: {city}, {counted(nights)}. The number of your booking is {number}."
    else:
        say(type="tool_call", name="find_room", args={"city": city}, result={"euros": PRICES[city]})
        offered = nights is not None
        question = f"Shall I book it for {counted(nights)}?" if nights else "How many nights do you need?"
        answer = f"There is a room in {city} for {PRICES[city]} euros a night. {question}"
    say(type="text", text=answer)
    say(type="turn_end")
