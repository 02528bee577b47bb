#!/usr/bin/env python3
"""The service against that of agentevals-cli 0.11.0: requests a second, and processor time a request, on `validate` and `evaluate`.

    benches/service.py [--seconds 5] [--connections 4] [--rounds 3]

Both servers run at the same time and are asked in alternation, each request on a connection that stays open. Each answer is
checked: the set is valid, the trace has the score 1.0. The client is a program of its own, as Python's would be the slowest part.

agentevals is installed into a virtual environment below the target folder at first use, unless `AGENTEVALS` names its program.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import measure

AGENTEVALS = "agentevals-cli==0.11.0"


def agentevals():
    """The program of agentevals: the one named by AGENTEVALS, else one in a venv made here, once."""
    named = os.environ.get("AGENTEVALS")
    if named:
        return named
    folder = measure.TARGET / "agentevals"
    if not (folder / "bin" / "agentevals").exists():
        print(f"installing {AGENTEVALS} into {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", AGENTEVALS], check=True)
    return str(folder / "bin" / "agentevals")


def eval_set():
    turn = {
        "invocation_id": "", "user_content": {"role": "user", "parts": [{"text": "What is the weather in Paris?"}]},
        "final_response": {"role": "model", "parts": [{"text": "It is 20 degrees in Paris."}]},
        "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Paris"}}]},
    }
    return {"eval_set_id": "weather", "eval_cases": [{"eval_id": "paris", "conversation": [turn]}]}


def trace():
    def span(number, parent, name, **attributes):
        values = [{"key": f"gen_ai.{key.replace('__', '.')}", "value": {"stringValue": value}} for key, value in attributes.items()]
        start = 1760000000000000000 + number * 1000000
        return {"traceId": f"{1:032x}", "spanId": f"{number:016x}", "parentSpanId": parent, "name": name, "kind": 1,
                "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 100000000), "attributes": values}

    says = lambda role, text: json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])  # noqa: E731
    root = f"{1:016x}"
    spans = [
        span(1, "", "invoke_agent weather", operation__name="invoke_agent", agent__name="weather"),
        span(2, root, "execute_tool get_weather", operation__name="execute_tool", tool__name="get_weather",
             tool__call__id="c1", tool__call__arguments='{"city": "Paris"}', tool__call__result='{"temp": 20}'),
        span(3, root, "chat m", operation__name="chat", provider__name="openai", request__model="m",
             input__messages=says("user", "What is the weather in Paris?"),
             output__messages=says("assistant", "It is 20 degrees in Paris.")),
    ]
    scope = {"scope": {"name": "bench"}, "spans": spans}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "bench"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def requests():
    """What is asked: a name, the whole request, and what each answer must hold."""
    boundary = "b0undary"
    form = (f"--{boundary}\r\ncontent-disposition: form-data; name=\"eval_set_file\"; filename=\"s.json\"\r\n"
            f"content-type: application/json\r\n\r\n{json.dumps(eval_set())}\r\n--{boundary}--\r\n")
    config = {"evaluators": [{"name": "tool_trajectory_avg_score", "type": "builtin"}]}
    body = json.dumps({"traces": trace(), "config": config, "evalSet": eval_set()})
    multipart = f"multipart/form-data; boundary={boundary}"
    for name, path, kind, text, wanted in [
        ("validate", "/api/validate/eval-set", multipart, form, '"valid":true'),
        ("evaluate", "/api/evaluate/json", "application/json", body, '"score":1.0'),
    ]:
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\ncontent-length: {len(text)}\r\n\r\n"
        yield name, head + text, wanted


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    for _ in range(1200):
        if process.poll() is not None:
            sys.exit(f"the server on port {port} has ended")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"nothing listens on port {port}")


def cpu(process):
    """The seconds of all cores that a process has used; None where the system does not say."""
    try:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    report = measure.Report("the service: requests a second")
    target = measure.TARGET.parent
    build = ["cargo", "build", "--locked", "--release", "-p", "eval-server", "--examples"]
    measure.run(build, measure.WORKSPACE, CARGO_TARGET_DIR=str(target))
    examples = target / "release" / "examples"
    folder = measure.TARGET / "service"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    ports = {"evalset": free_port(), "agentevals": free_port()}
    commands = {
        "evalset": [examples / "serve", str(ports["evalset"])],
        "agentevals": [agentevals(), "serve", "--headless", "--port", str(ports["agentevals"]),
                       "--otlp-http-port", str(free_port()), "--otlp-grpc-port", str(free_port()), "--api-grpc-port", "0"],
    }
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    servers = {side: subprocess.Popen(command, cwd=folder, **quiet) for side, command in commands.items()}
    try:
        for side, process in servers.items():
            wait_for(ports[side], process)
        for name, request, wanted in requests():
            path = pathlib.Path(folder / name)
            path.write_bytes(request.encode())
            rates = {side: [] for side in servers}
            costs = {side: [] for side in servers}
            for round in range(options.rounds + 1):
                for side, process in servers.items():
                    # The first round is short: it warms both.
                    seconds = options.seconds if round else 1
                    load = [examples / "load", f"127.0.0.1:{ports[side]}", str(seconds), str(options.connections), path, wanted]
                    before = cpu(process)
                    found = measure.ask(load, folder)
                    rates[side].append(found["rate"])
                    if before is not None:
                        costs[side].append((cpu(process) - before) / found["answers"])
            ours, theirs = (measure.median(rates[side][1:]) for side in ("evalset", "agentevals"))
            report.note(f"{name}: {ours:.0f} a second; agentevals {theirs:.0f}")
            report.at_least(name, ours / theirs, 20)
            if costs["evalset"]:
                # A busy machine has less time for both, and takes as much of it for a request.
                ours, theirs = (measure.median(costs[side][1:]) for side in ("evalset", "agentevals"))
                report.note(f"{name}: {measure.in_us(ours)} of processors a request; agentevals {measure.in_us(theirs)}")
                report.note(f"{name}, processor time: ratio {theirs / ours:.2f}")
    finally:
        for process in servers.values():
            process.send_signal(signal.SIGTERM)
        for process in servers.values():
            process.wait()
    shutil.rmtree(folder, ignore_errors=True)
    report.end()


main()
