"""An agent that asks a model over OpenAI's Chat Completions, without a package. Variables say what it does otherwise."""

import concurrent.futures
import json
import os
import random
import sys
import threading
import urllib.error
import urllib.request

SYSTEM = os.environ.get("AGENT_SYSTEM", "Be brief.")
# The messages of each conversation.
CONVERSATIONS = {}
WRITING = threading.Lock()


def write(**message):
    with WRITING:
        print(json.dumps(message), flush=True)


def ask(messages, **more):
    if os.environ.get("AGENT_SLOW"):
        import time

        time.sleep(float(os.environ["AGENT_SLOW"]))
    base = os.environ["OPENAI_BASE_URL"]
    body = json.dumps({"model": "gpt-5-mini", "messages": messages, **more}).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "")}
    for attempt in range(3):
        try:
            request = urllib.request.Request(base + "/chat/completions", body, headers)
            with urllib.request.urlopen(request) as response:
                return json.load(response)["choices"][0]["message"]["content"]
        except urllib.error.HTTPError as error:
            if error.code in (400, 401) or attempt == 2:
                raise RuntimeError(json.load(error)["error"]["message"])


def answer(text, messages):
    if os.environ.get("AGENT_GATHER"):
        # Equal and different questions at the same time.
        words = os.environ["AGENT_GATHER"].split(",")
        random.shuffle(words)
        with concurrent.futures.ThreadPoolExecutor(len(words)) as pool:
            said = list(pool.map(lambda word: ask([*messages, {"role": "user", "content": word}]), words))
        return " ".join(sorted(said))
    if os.environ.get("AGENT_CONNECTS"):
        try:
            urllib.request.urlopen(os.environ["AGENT_CONNECTS"], timeout=10)
        except Exception:
            return "It is sunny."
    messages.append({"role": "user", "content": text})
    said = ask(messages)
    messages.append({"role": "assistant", "content": said})
    return said


def turn(message, session):
    text = message["content"]["parts"][0]["text"]
    try:
        said = answer(text, CONVERSATIONS[message.get("session_id")])
        if os.environ.get("AGENT_TELLS"):
            content = {"role": "model", "parts": [{"text": said}]}
            usage = {"promptTokenCount": 100, "candidatesTokenCount": 50}
            event = {"author": "agent", "content": content, "usageMetadata": usage, "modelVersion": "told"}
            write(type="event", event=event, **session)
        else:
            write(type="text", text=said, **session)
        write(type="turn_end", **session)
    except Exception as error:
        if os.environ.get("AGENT_SWALLOWS"):
            write(type="text", text="It is sunny.", **session)
            write(type="turn_end", **session)
        else:
            write(type="error", message=str(error), **session)


if os.environ.get("AGENT_STARTS"):
    with open(os.environ["AGENT_STARTS"], "a") as starts:
        print("started", file=starts)
write(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    session = {"session_id": message.get("session_id")}
    if message["type"] == "start":
        CONVERSATIONS[message.get("session_id")] = [{"role": "system", "content": SYSTEM}]
        write(type="started", **session)
    elif message["type"] == "turn" and os.environ.get("AGENT_SHARED"):
        # Several conversations at the same time.
        threading.Thread(target=turn, args=(message, session), daemon=True).start()
    elif message["type"] == "turn":
        turn(message, session)
    elif message["type"] == "end" and os.environ.get("AGENT_ASKS_AT_END"):
        try:
            ask([{"role": "user", "content": "Sum it up."}])
        except RuntimeError:
            pass
        break
    elif message["type"] == "end" and not os.environ.get("AGENT_SHARED"):
        break
