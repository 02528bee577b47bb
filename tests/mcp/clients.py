#!/usr/bin/env python3
"""Real clients of MCP ask the mock of a case, over HTTP and over stdio: google-adk, openai-agents and pydantic-ai.

    clients.py PYTHON BINARY FOLDER [FILTER]

PYTHON has the packages of tests/mcp/requirements.txt. Each agent makes the calls of the case, which passes; then one call more,
which no golden answers: its model goes on, and the case is an ERROR all the same. A client with no run around it asks
`cargo-evalset mcp` by hand. FOLDER gets a folder for each agent; FILTER chooses some by their names.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON, BINARY, FOLDER = (Path(argument).absolute() for argument in sys.argv[1:4])
FILTER = "".join(sys.argv[4:])

PARIS, OSLO = {"order_id": "A-17"}, {"order_id": "A-18"}
GOOD = [["lookup_order", PARIS], ["lookup_order", PARIS], ["refund", {**PARIS, "amount": 9.5}]]
MISSED = [GOOD[0], GOOD[1], ["lookup_order", OSLO], GOOD[2]]
TOLD = ["shipped", "delivered", "refunded"]
MISS = "no golden answers lookup_order"

BY_HAND = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
async def main():
    async with stdio_client(StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])) as streams:
        async with ClientSession(*streams) as session:
            await session.initialize()
            print(sorted(tool.name for tool in (await session.list_tools()).tools))
            for order in ("A-17", "A-18"):
                print((await session.call_tool("lookup_order", {"order_id": order})).content[0].text)
asyncio.run(main())
"""


def run(folder, framework, how, calls):
    """The exit code, the output, and what the model was told."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(HERE / "orders.evalset.json", folder)
    told = folder / "answers.json"
    env = {**os.environ, "CALLS": json.dumps(calls), "ANSWERS": str(told), "BINARY": str(BINARY), "EVALSET_DIR": str(folder)}
    agent = f"{PYTHON} {HERE / 'agent.py'} {framework} {how}"
    command = [BINARY, "run", "orders.evalset.json", "--tools", "golden", "--agent-cmd", agent, "--timeout", "60s"]
    ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    answers = json.loads(told.read_text()) if told.exists() else []
    return ran.returncode, ran.stdout + ran.stderr, [json.dumps(answer) for answer in answers]


def check(name, holds, shown):
    if not holds:
        sys.exit(f"{name}: not as expected:\n{shown}")


for framework in ("google_adk", "openai_agents", "pydantic_ai"):
    for how in ("http", "stdio"):
        name = f"{framework} over {how}"
        if FILTER not in name:
            continue
        folder = FOLDER / f"{framework}-{how}"
        code, output, answers = run(folder, framework, how, GOOD)
        check(name, code == 0, output)
        told = [word for word, answer in zip(TOLD, answers, strict=True) if word in answer]
        check(name, told == TOLD, answers)
        code, output, answers = run(folder, framework, how, MISSED)
        check(name, code == 2 and f"tools error in turn 1: {MISS}(order_id: \"A-18\")" in output, output)
        # The model was told of the miss, and went on.
        check(name, len(answers) == 4 and MISS in answers[2] and "refunded" in answers[3], answers)
        print(f"{name}: 3 answers, 1 miss")

name = "a client by hand"
if FILTER in name:
    command = [PYTHON, "-c", BY_HAND, BINARY, "mcp", HERE / "orders.evalset.json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    lines = ran.stdout.splitlines()
    check(name, lines[:2] == ["['lookup_order', 'refund']", '{"status":"shipped"}'], ran)
    check(name, lines[2].startswith(MISS) and MISS in ran.stderr, ran)
    print(f"{name}: 1 answer, 1 miss")
