"""An agent that asks a model over OpenAI's Chat Completions, without a package. Variables say what it does otherwise."""

import concurrent.futures
import json
import os
import sys
import urllib.error
import urllib.request

SYSTEM = os.environ.get("AGENT_SYSTEM", "Be brief.")
MESSAGES = [{"role": "system", "content": SYSTEM}]


def write(**message):
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


def answer(text):
    if os.environ.get("AGENT_GATHER"):
        # Equal and different questions at the same time.
        words = os.environ["AGENT_GATHER"].split()
        with concurrent.futures.ThreadPoolExecutor(len(words)) as pool:
            said = list(pool.map(lambda word: ask([*MESSAGES, {"role": "user", "content": word}]), words))
        return " ".join(sorted(said))
    if os.environ.get("AGENT_CONNECTS"):
        try:
            urllib.request.urlopen(os.environ["AGENT_CONNECTS"], timeout=10)
        except Exception:
            return "It is sunny."
    MESSAGES.append({"role": "user", "content": text})
    said = ask(MESSAGES)
    MESSAGES.append({"role": "assistant", "content": said})
    return said


write(type="hello", protocol=1)
for line in sys.stdin:
    message = json.loads(line)
    session = {"session_id": message.get("session_id")}
    if message["type"] == "start":
        MESSAGES[1:] = []
        write(type="started", **session)
    elif message["type"] == "turn":
        text = message["content"]["parts"][0]["text"]
        try:
            write(type="text", text=answer(text), **session)
            write(type="turn_end", **session)
        except Exception as error:
            if os.environ.get("AGENT_SWALLOWS"):
                write(type="text", text="It is sunny.", **session)
                write(type="turn_end", **session)
            else:
                write(type="error", message=str(error), **session)
    elif message["type"] == "end" and not os.environ.get("AGENT_SHARED"):
        break
