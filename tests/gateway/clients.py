#!/usr/bin/env python3
"""Real clients of models, recorded against a provider on loopback with random ids, and replayed without it.

    clients.py PYTHON COMMAND FOLDER [--node MODULES] [NAME ..]

PYTHON has the packages of requirements.txt, COMMAND is `cargo-evalset`, and FOLDER is for files. Each agent of weather.py is
recorded, replayed in a fresh process without a key, and replayed with a changed prompt, which has to be an error that shows
that line and no other, after one request, and soon. With `--node`, the agents are those of node/weather.mjs, and MODULES
is the folder of their packages.
"""

import argparse
import sys

from harness import HERE, INSTRUCTIONS, PACKAGE, Check, Provider, cases, differences, requests

# Agents that are streamed too.
STREAMED = {"openai-chat", "openai-responses", "anthropic", "gemini", "pydantic-chat", "pydantic-responses", "pydantic-anthropic"}
STREAMED |= {"pydantic-google", "agents-responses", "agents-chat", "adk-gemini", "adk-litellm", "adk-claude", "langchain-openai"}
STREAMED |= {"langchain-anthropic", "langchain-google"}
NODE = ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-chat", "ai-responses", "ai-anthropic", "ai-google"]
NODE += ["agents", "adk"]
# The requests that a client makes for one answer where each fails: its attempts. And what it says then, for a status of 429,
# of 500, and a connection that is reset.
FAULTS = {
    "openai-chat": (3, ["RateLimitError", "InternalServerError", "APIConnectionError"]),
    "anthropic": (3, ["RateLimitError", "InternalServerError", "APIConnectionError"]),
    "gemini": (1, ["ClientError", "ServerError", "ServerDisconnectedError"]),
    "node-openai-chat": (3, ["RateLimitError", "InternalServerError", "APIConnectionError"]),
    "node-anthropic": (3, ["RateLimitError", "InternalServerError", "APIConnectionError"]),
    "node-gemini": (1, ["ApiError", "ApiError", "TypeError"]),
    "node-ai-chat": (3, ["RetryError", "RetryError", "APICallError"]),
}
# What a client says of a stream that is cut, and of an error in a stream. None of them repeats it.
CUT = {
    "openai-chat": ["APIConnectionError", "APIError"],
    "anthropic": ["RemoteProtocolError", "APIStatusError"],
    "gemini": ["ClientPayloadError", "ServerError"],
    "node-openai-chat": ["Error", "APIError"],
    "node-anthropic": ["Error", "APIError"],
    "node-gemini": ["Error", "ApiError"],
}
ONE_TURN = slice(1, None)
# Agents whose tools are called here, so that their results can be changed.
BY_HAND = ["openai-chat", "openai-responses", "anthropic", "gemini"]
# Agents that are asked once more with a provider whose calls of tools have no ids, as Gemini's.
WITHOUT_IDS = ["gemini", "pydantic-google", "adk-gemini", "node-gemini", "node-adk"]
# Agents whose clients obey a proxy for loopback, unless the command keeps them from it.
PROXIED = ["openai-chat", "anthropic", "gemini"]
NOWHERE = "http://127.0.0.1:1"
SECRET = "purple-elephant-77"
# Agents without a variable, and the host that they ask then.
NOT_REDIRECTED = {
    "adk-litellm-gemini": ("GEMINI_API_BASE", "generativelanguage.googleapis.com"),
    "agents-responses": ("OPENAI_AGENTS_DISABLE_TRACING", "api.openai.com"),
}


def agent(check, name, stream=False, ids=True):
    what = name + (", streamed" if stream else "") + ("" if ids else ", no ids")
    folder, program = check.place(what.replace(", ", "-").replace(" ", "-")), check.program(name)
    more = {"GATEWAY_STREAM": "1"} if stream else {}
    with Provider(folder, "tool2-rnd-gid" if ids else "tool2-rnd") as provider:
        recorded = check.run(folder, program, provider | more | {"EVALSET_MODELS": "record", "PYTHONHASHSEED": "random"}, "--json", "recorded.json")
    if not check.expect(f"{what}: recorded", recorded, 0):
        return
    unused = {"EVALSET_MODELS_UNUSED": "error", "PYTHONHASHSEED": "random"}
    replayed = check.run(folder, program, more | unused, "--json", "replayed.json")
    if check.expect(f"{what}: replayed", replayed, 0):
        first, second = (cases(folder, report)[0]["did"] for report in ["recorded.json", "replayed.json"])
        check.hold(f"{what}: trajectory", first == second, f"{first}\n{second}")
    # Frameworks retry, wrap and hide errors of models; the case shows what is missing in any case.
    log = folder / "relay.jsonl"
    changes = {"GATEWAY_INSTRUCTIONS": "You answer about the weather.", "GATEWAY_SWALLOW": "1"}
    program = lambda: check.program(name, log)
    took, changed = soon(check, what, folder, program, more | changes, log)
    check.expect(f"{what}: changed", changed, 2, "recording error in turn 1", "system prompt:")
    shown = differences(changed)
    # ADK adds a sentence of its own to the prompt, which did not change.
    check.hold(f"{what}: difference", INSTRUCTIONS <= set(shown) and len(shown) == 2, f"{shown}\n{changed.stdout}")
    count = len(requests(log))
    check.hold(f"{what}: requests", count == 1, f"{count} requests for a call that is not recorded")
    print(f"{what}: a miss took {took:.3f} s", flush=True)


def soon(check, what, folder, program, variables, log, of="/c/"):
    """A run whose turn, or whose case if no turn was left, ends within a second after the request, and the time that it took.
    A busy machine has four tries."""
    for _ in range(4):
        ran = check.run(folder, program(), variables, "--json", "report.json")
        asked = min(requests(log, of), default=0)
        took = min((end for end in cases(folder)[0]["ends"] if end >= asked), default=float("inf")) - asked
        if took < 1:
            break
    check.hold(f"{what}: time", took < 1, f"the turn ended {took} s after the request\n{ran.stdout}{ran.stderr}")
    return took, ran


def faults(check, name):
    attempts, errors = FAULTS[name]
    folder, log = check.place(f"faults-{name}"), check.folder / f"faults-{name}" / "relay.jsonl"
    check.edit(folder, lambda case: case["conversation"].__delitem__(ONE_TURN))
    check.edit(folder, lambda case: case["conversation"][0].pop("intermediate_data"))
    with Provider(folder, "text-rnd") as provider:
        check.expect(f"{name}: recorded", check.run(folder, check.program(name), provider | {"EVALSET_MODELS": "record"}), 0)
    kinds = [{"status": 429, "retry_after": 0.001}, {"status": 500}, "reset"]
    for fault, error in zip(kinds, errors):
        # Google's client for Python repeats a request of its asynchronous side once if the connection is reset, and node's none.
        repeats = attempts
        if fault == "reset":
            repeats = {"gemini": 2, "node-gemini": 1, "node-ai-chat": 3}.get(name, attempts)
        for calls in range(1, repeats + 1):
            at = [{"at": {"turn": 1, "call": call}, "fault": fault} for call in range(1, calls + 1)]
            check.edit(folder, lambda case: case.update(_models={"faults": at}))
            ran, what = check.run(folder, check.program(name, log)), f"{name}: {fault} at {calls} calls"
            check.expect(what, ran, *((0,) if calls < repeats else (2, error)))
            expected = min(calls + 1, repeats)
            count = len(requests(log))
            check.hold(f"{what}: requests", count == expected, f"{count} requests, expected {expected}")
    print(f"{name}: faults were checked", flush=True)


def cut(check, name):
    folder, log = check.place(f"cut-{name}"), check.folder / f"cut-{name}" / "relay.jsonl"
    stream = {"GATEWAY_STREAM": "1"}
    check.edit(folder, lambda case: case["conversation"].__delitem__(ONE_TURN))
    check.edit(folder, lambda case: case["conversation"][0].pop("intermediate_data"))
    with Provider(folder, "text-rnd") as provider:
        recorded = check.run(folder, check.program(name), provider | stream | {"EVALSET_MODELS": "record"})
        check.expect(f"{name}: stream recorded", recorded, 0)
    for fault, error in zip([{"cut": {"events": 1}}, {"error_in_stream": {"events": 1}}], CUT[name]):
        check.edit(folder, lambda case: case.update(_models={"faults": [{"at": {"turn": 1, "call": 1}, "fault": fault}]}))
        ran = check.run(folder, check.program(name, log), stream)
        check.expect(f"{name}: {fault}", ran, 2, error)
        count = len(requests(log))
        check.hold(f"{name}: {fault}: requests", count == 1, f"{count} requests")
    print(f"{name}: streams that break off were checked", flush=True)


def results(check, name):
    """Results of tools that changed, with the recordings that `agent` made."""
    folder, program = check.folder / name, check.program(name)
    told = ["recording error in turn 1", "call 2 of a model", "the results of tools changed"]
    for of in [name, f"{name}-no-ids"]:
        if (check.folder / of).exists():
            swapped = check.run(check.folder / of, program, {"GATEWAY_SWAP": "1"})
            check.expect(f"{of}: results swapped", swapped, 2, *told)
    rainy = check.run(folder, program, {"GATEWAY_RESULT": "rainy in {city}"})
    check.expect(f"{name}: another result", rainy, 2, "recording error in turn 1", "sunny in Paris", "rainy in Paris")
    renamed = check.run(folder, program, {"GATEWAY_RENAME": "1", "EVALSET_MODELS_UNUSED": "error"})
    check.expect(f"{name}: ids renamed", renamed, 0)
    late = check.run(folder, program, {"GATEWAY_LATE": "1", "EVALSET_MODELS_UNUSED": "error"})
    check.expect(f"{name}: results in the order in which the calls end", late, 0)
    print(f"{name}: results were checked", flush=True)


def secret(check, name):
    """The value of a secret variable in the result of a tool: nothing is written."""
    folder = check.place(f"secret-{name}")
    with Provider(folder) as provider:
        secret = {"GATEWAY_RESULT": f"{SECRET} in {{city}}", "MY_TOKEN": SECRET, "EVALSET_MODELS": "record"}
        ran = check.run(folder, check.program(name), provider | secret)
    check.expect(f"{name}: secret", ran, 2, "the calls of case `paris` hold the value of `MY_TOKEN`")
    check.hold(f"{name}: secret: files", not recording(folder) and SECRET not in ran.stdout + ran.stderr, f"{recording(folder)}\n{ran.stdout}{ran.stderr}")
    print(f"{name}: a secret was refused", flush=True)


def proxied(check, name):
    """Proxies and addresses of the shell lead nowhere: the recording that `agent` made is replayed."""
    proxies = {name: NOWHERE for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]}
    addresses = {name: NOWHERE for name in ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"]}
    for what, variables in {"proxies": proxies, "addresses": addresses}.items():
        ran = check.run(check.folder / name, check.program(name), variables | {"EVALSET_MODELS_UNUSED": "error"})
        check.expect(f"{name}: {what} of the shell", ran, 0, "1 passed")
    print(f"{name}: proxies and addresses of the shell were checked", flush=True)


def not_redirected(check, name):
    variable, host = NOT_REDIRECTED[name]
    folder, log = check.folder / name, check.folder / name / "relay.jsonl"
    what, unset = f"{name}: without {variable}", {"GATEWAY_UNSET": variable}
    took, ran = soon(check, what, folder, lambda: check.program(name, log), unset, log, host)
    check.expect(what, ran, 2, "recording error", f"a client asked `{host}` itself")
    print(f"{name}: {host} was named after {took:.3f} s", flush=True)


def module(check):
    """An agent of a framework as an object of a module: the command sets what its client needs."""
    folder = check.place("module")
    (folder / "of_module.py").write_text("import weather\n\nagent = weather.AGENTS['pydantic-chat']()\n")
    paths = {"PYTHONPATH": f"{PACKAGE}:{HERE}:{folder}", "EVALSET_PYTHON": check.python}
    agent = ["--agent", "of_module:agent", "--ready-within", "120s"]
    with Provider(folder) as provider:
        check.expect("module: recorded", check.run(folder, agent, provider | paths | {"EVALSET_MODELS": "record"}), 0, "1 passed")
    replayed = check.run(folder, agent, paths | {"EVALSET_MODELS_UNUSED": "error"})
    check.expect("module: replayed", replayed, 0, "1 passed")
    print("module: was checked", flush=True)


def gather(check):
    """A hundred turns, each with ten questions at once."""
    folder, program, turns = check.place("gather"), check.program("gather"), 100
    words = [{"user_content": {"role": "user", "parts": [{"text": f"How is the weather on day {day}?"}]}} for day in range(turns)]
    check.edit(folder, lambda case: case.update(conversation=words))
    # Nothing is scored: what was said is compared.
    (folder / "test_config.json").write_text('{"criteria": {"tool_trajectory_avg_score": 1.0}}')
    with Provider(folder, "text-rnd-count") as provider:
        ran = check.run(folder, program, provider | {"EVALSET_MODELS": "record"}, "--json", "recorded.json")
        check.expect("gather: recorded", ran, 0)
    for _ in range(2):
        check.expect("gather: replayed", check.run(folder, program, {"EVALSET_MODELS_UNUSED": "error"}, "--json", "replayed.json"), 0)
        first, second = (cases(folder, report)[0]["did"] for report in ["recorded.json", "replayed.json"])
        check.hold("gather: answers", first == second and len(set(first)) == turns, f"{first}\n{second}")
    print("gather: was checked", flush=True)


def files(check):
    """The files of eight cases, from a provider that answers equal requests equally: in order, anew, and all at once."""
    names, program = [f"case-{number}" for number in range(8)], check.program("openai-chat")
    seen = []
    for at, concurrency in enumerate(["1", "1", "8"]):
        folder = check.place(f"files-{at}", [{"eval_id": name} for name in names])
        check.edit(folder, lambda case: case["conversation"][0]["user_content"]["parts"][0].update(text=f"And for {case['eval_id']}?"))
        with Provider(folder, "tool2-gid") as provider:
            ran = check.run(folder, program, provider | {"EVALSET_MODELS": "record"}, "--concurrency", concurrency)
        check.expect("files: recorded", ran, 0, "8 passed")
        seen.append(recording(folder))
    check.hold("files: equal", len(seen[0]) == 9 and seen[0] == seen[1] == seen[2], [sorted(it) for it in seen])
    with Provider(folder, "tool2-rnd-gid") as provider:
        anew = check.run(folder, program, provider | {"EVALSET_MODELS": "record-all"}, of=":case-3")
    check.expect("files: recorded anew", anew, 0, "1 passed")
    changed = {name for name, text in recording(folder).items() if text != seen[2].get(name)}
    check.hold("files: changed", changed == {"case-3.json"}, changed)
    print("files: were checked", flush=True)


def recording(folder):
    return {path.name: path.read_bytes() for path in (folder / "trip.evalset.models").glob("*.json")}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ["python", "command", "folder"]:
        parser.add_argument(name)
    parser.add_argument("--node", metavar="MODULES")
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    check = Check(given.python, given.command, given.folder, given.node)
    sys.path.insert(0, str(HERE))
    from weather import AGENTS

    agents = [f"node-{name}" for name in NODE] if given.node else list(AGENTS)
    chosen = [name for name in agents if not given.names or name in given.names]
    for name in chosen:
        agent(check, name)
        if given.node or name in STREAMED:
            agent(check, name, stream=True)
        if name in WITHOUT_IDS:
            agent(check, name, ids=False)
            agent(check, name, stream=True, ids=False)
        if name in FAULTS:
            faults(check, name)
        if name in CUT:
            cut(check, name)
        if name in BY_HAND:
            results(check, name)
            secret(check, name)
        if name in PROXIED:
            proxied(check, name)
        if name in NOT_REDIRECTED:
            not_redirected(check, name)
    for test in [] if given.node else [gather, files, module]:
        if not given.names or test.__name__ in given.names:
            test(check)
    check.ends()


if __name__ == "__main__":
    main()
