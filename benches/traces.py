#!/usr/bin/env python3
"""`cargo evalset run --trace` against the command of agentevals-cli 0.11.0, and the memory that a large file takes.

    benches/traces.py [--conversations 1 100] [--rounds 3] [--megabytes 1000]

Both score the same traces against the same set, once with `tool_trajectory_avg_score` and once with
`response_match_score`, as whole commands from start to end, in a cargo workspace and, on our side, outside of one too. The large file is read by `cargo evalset traces`, as one OTLP
document and as lines: each trace has eight model calls with their histories, instructions and tools, as agents write them.
agentevals is installed into a virtual environment below the target folder at first use, unless `AGENTEVALS` names its
program. `--megabytes 0` leaves the large file out.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import measure

AGENTEVALS = "agentevals-cli==0.11.0"
START = 1_760_000_000_000_000_000
METRICS = ("tool_trajectory_avg_score", "response_match_score")


def agentevals():
    """The program of agentevals: the one named by AGENTEVALS, else one in a venv made here, once."""
    named = os.environ.get("AGENTEVALS")
    if named:
        return named
    folder = measure.TARGET / "agentevals"
    if not (folder / "ready").exists():
        base = shutil.which("python3.11") or sys.executable
        print(f"installing {AGENTEVALS} into {folder}", file=sys.stderr)
        subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", AGENTEVALS], check=True)
        (folder / "ready").touch()
    return str(folder / "bin" / "agentevals")


def attribute(key, value):
    return {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}


def span(trace, number, parent, name, attributes):
    begin = START + trace * 60_000_000_000 + number * 1_000_000_000
    return {
        "traceId": f"{trace:032x}", "spanId": f"{number:016x}", "parentSpanId": f"{parent:016x}" if parent else "",
        "name": name, "kind": 1, "startTimeUnixNano": str(begin), "endTimeUnixNano": str(begin + 900_000_000),
        "attributes": [attribute(key, value) for key, value in attributes.items()], "status": {},
    }


def text(role, content):
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def question(trace):
    return f"Where is order {trace}?"


def answer(trace):
    return f"Order {trace} ships on Monday and should be with you on Wednesday."


def conversation(trace, calls, padding):
    """The spans of a turn with so many calls of a tool, each asked for by a model call that is sent all before it."""
    yield span(trace, 1, 0, "POST /chat", {"http.request.method": "POST", "url.path": "/chat", "server.address": "shop"})
    yield span(trace, 2, 1, "invoke_agent shop", {
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop", "gen_ai.conversation.id": f"c-{trace}"})
    history = [text("user", question(trace))]
    common = {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m",
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be kind and brief. " * (padding // 19)}]),
        "gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "track", "description": "x" * padding}]),
        "gen_ai.usage.input_tokens": 400, "gen_ai.usage.output_tokens": 40,
    } if padding else {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    number = 3
    for call in range(calls):
        args, result = {"order": trace, "step": call}, {"found": True, "log": f"step {call} of order {trace}. " * (padding // 28)}
        asked = {"role": "assistant", "parts": [{"type": "tool_call", "id": f"{trace}-{call}", "name": "track", "arguments": args}]}
        yield span(trace, number, 2, "chat m", {
            **common, "gen_ai.input.messages": json.dumps(history), "gen_ai.output.messages": json.dumps([asked])})
        yield span(trace, number + 1, 2, "execute_tool track", {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "track", "gen_ai.tool.call.id": f"{trace}-{call}",
            "gen_ai.tool.call.arguments": json.dumps(args), "gen_ai.tool.call.result": json.dumps(result)})
        yield span(trace, number + 2, number + 1, "GET /orders", {"http.request.method": "GET", "url.path": f"/orders/{trace}"})
        history += [asked, {"role": "tool", "parts": [{"type": "tool_call_response", "id": f"{trace}-{call}", "response": result}]}]
        number += 3
    yield span(trace, number, 2, "chat m", {
        **common, "gen_ai.input.messages": json.dumps(history),
        "gen_ai.output.messages": json.dumps([text("assistant", answer(trace))])})


def document(spans):
    resource = {"attributes": [attribute("service.name", "shop")]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "shop"}, "spans": spans}]}]}


def eval_set(conversations):
    content = lambda role, words: {"role": role, "parts": [{"text": words}]}  # noqa: E731
    case = lambda trace: {  # noqa: E731
        "eval_id": f"order_{trace}",
        "conversation": [{
            "user_content": content("user", question(trace)), "final_response": content("model", answer(trace)),
            "intermediate_data": {"tool_uses": [{"name": "track", "args": {"order": trace, "step": step}} for step in range(2)]},
        }],
    }
    return {"eval_set_id": "orders", "eval_cases": [case(trace) for trace in range(1, conversations + 1)]}


def compare(report, ours, theirs, folder, outside, conversations, rounds):
    traces, cases = folder / f"{conversations}.json", folder / f"orders-{conversations}.evalset.json"
    spans = [span for trace in range(1, conversations + 1) for span in conversation(trace, 2, 0)]
    traces.write_text(json.dumps(document(spans)))
    cases.write_text(json.dumps(eval_set(conversations)))
    for metric in METRICS:
        sides = {
            "evalset": lambda: measure.run([ours, "run", cases, "--trace", traces, "-m", f"{metric}=0.99"], folder),
            "outside": lambda: measure.run([ours, "run", cases, "--trace", traces, "-m", f"{metric}=0.99"], outside),
            "agentevals": lambda: measure.run([theirs, "run", traces, "--eval-set", cases, "-m", metric, "-t", "0.99"], folder),
        }
        found = measure.alternate(sides, rounds)
        cpu = {side: measure.median([cost.cpu for cost in costs]) for side, costs in found.items()}
        wall = {side: measure.median([cost.wall for cost in costs]) for side, costs in found.items()}
        report.note(f"{conversations} conversation(s), {metric}: {measure.in_ms(cpu['evalset'])} and "
                    f"{measure.in_ms(cpu['agentevals'])} of CPU, {measure.in_ms(wall['evalset'])} and "
                    f"{measure.in_ms(wall['agentevals'])} on the clock")
        ratio = cpu["agentevals"] / cpu["evalset"]
        report.note(f"{metric}, outside of a workspace: ratio {cpu['agentevals'] / cpu['outside']:.2f}")
        if conversations == 1:
            report.at_least(f"{metric}, one conversation", ratio, 50)
        else:
            report.note(f"{metric}, {conversations} conversations: ratio {ratio:.2f}")


def write_large(path, megabytes, as_lines):
    """A file of traces of about 150 kB each."""
    trace, written = 0, 0
    with path.open("w") as file:
        if not as_lines:
            file.write('{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":{"name":"shop"},"spans":[')
        while written < megabytes * 1_000_000:
            trace += 1
            spans = list(conversation(trace, 7, 2000))
            if as_lines:
                part = json.dumps(document(spans)) + "\n"
            else:
                part = (",\n" if trace > 1 else "") + ",\n".join(map(json.dumps, spans))
            written += file.write(part)
        if not as_lines:
            file.write("]}]}]}\n")
    return trace


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, nargs="+", default=[1, 100])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=1000)
    options = parser.parse_args()
    report = measure.Report("stored traces: the whole command")
    target = measure.TARGET.parent
    measure.run(["cargo", "build", "--locked", "--release", "-p", "cargo-evalset"], measure.WORKSPACE, CARGO_TARGET_DIR=str(target))
    program, theirs = target / "release" / "cargo-evalset", agentevals()
    folder = measure.TARGET / "traces"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as outside:
        for conversations in options.conversations:
            compare(report, program, theirs, folder, outside, conversations, options.rounds)
    for as_lines in (False, True) if options.megabytes else ():
        path = pathlib.Path(folder / "large.json")
        count = write_large(path, options.megabytes, as_lines)
        cost = measure.run([program, "traces", path], folder)
        form = "lines" if as_lines else "one document"
        report.note(f"{path.stat().st_size / 1e6:.0f} MB of {count} traces as {form}: {cost.wall:.1f} s on the clock, "
                    f"{cost.cpu:.1f} CPU s, {cost.peak:.0f} MB")
        report.at_most(f"memory as {form}, of 300 MB", cost.peak / 300, 1.0)
        path.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    report.end()


main()
