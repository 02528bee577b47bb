#!/usr/bin/env python3
"""`cargo evalset report` of a large journal: its time and its memory.

    benches/report_size.py [--megabytes 500] [--cases 150000] [--rounds 3]

The journal is written here, as a test binary writes it: one process, a turn with a tool call and an answer for each case,
two metrics with a threshold. Its size comes from the conversations. The program is built with optimisation.
"""

import argparse
import json
import shutil
import statistics

import measure

PRIME, WORD = 0x9E3779B97F4A7C15, (1 << 64) - 1


def sealed(record, number):
    """A line with its number and checksum: eval-core's `journal/seal.rs`."""
    line = json.dumps(record, separators=(",", ":"))[:-1].encode() + b',"n":%d' % number
    blocks, rest = divmod(len(line), 8)
    last = int.from_bytes(line[blocks * 8 :].ljust(8, b"\0"), "little")
    value = (len(line) ^ last) * PRIME & WORD
    for block in memoryview(line[: blocks * 8]).cast("Q"):
        value = (((value << 23 | value >> 41) & WORD) ^ block) * PRIME & WORD
    return line + b',"sum":"%016x"}\n' % (value ^ value >> 32)


def records(case, padding):
    name = f"order_{case}"
    at = "2026-11-22T02:31:08.250Z"
    says = lambda text: {"role": "model", "parts": [{"text": text}]}  # noqa: E731
    call = {"id": f"call-{case}", "name": "lookup_order", "args": {"order_id": case}}
    yield {
        "record": "started", "test": case, "name": f"orders::{name}", "eval_set_id": "orders", "eval_id": name,
        "file": "evals/orders.evalset.json", "set_file": "evals/orders.evalset.json", "line": 4 + 33 * case, "column": 5,
        "asks": f"{case:016x}", "expects": f"{case:016x}", "runs": 1, "pass": "mean", "gate": "mean", "attempt": 1, "at": at,
    }
    events = [
        {"author": "agent", "content": {"role": "model", "parts": [{"function_call": call}]}, "at": 0.001},
        {"author": "tool", "content": {"role": "user", "parts": [{"function_response": {"id": call["id"], "name": call["name"],
         "response": {"found": True, "log": padding}}}]}, "at": 0.002},
        {"author": "agent", "content": says(f"Order {case} \"ships\" on Monday.\n"), "usage": {"total_token_count": 321}, "at": 0.003},
    ]
    yield {
        "record": "ran", "test": case, "run": 1, "evaluation": 1, "tokens": 321,
        "transcript": {
            "session": {"app_name": "shop", "user_id": "user", "session_id": f"s-{case}"},
            "turns": [{"invocation_id": "turn-1", "user_content": {"role": "user", "parts": [{"text": f"Where is order {case}?"}]},
                       "events": events, "creation_timestamp": 1.0}],
        },
    }
    names = ("tool_trajectory_avg_score", "response_match_score", "tool_call_count_v1", "inference_call_count_v1",
             "token_usage_v1", "invocation_duration_v1")
    yield {
        "record": "scored", "test": case, "run": 1, "evaluation": 1,
        "metrics": [{"name": metric, "verdict": {"is": "passed" if metric in names[:2] else "informational"}, "turns": ["passed"],
                     "outcome": {"scored": {"scores": [{"value": 1.0}], "overall": 1.0}}} for metric in names],
    }
    gates = [{"name": metric, "criterion": {"threshold": 0.8}, "score": 1.0, "scored": 1, "total": 1, "verdict": {"is": "passed"}}
             for metric in names[:2]]
    informs = [{"name": metric, "score": 1.0, "scored": 1, "total": 1, "verdict": {"is": "informational"}} for metric in names[2:]]
    yield {"record": "decided", "test": case, "verdict": {"is": "passed"}, "metrics": gates + informs, "elapsed": 0.003, "at": at}


def write(path, cases, megabytes):
    head = {
        "record": "head", "schema": 2, "evalset": "0.1.0", "run": "large", "package": "app", "binary": "evals", "pid": 1,
        "started": "2026-11-22T02:31:07.250Z", "env": {},
    }
    bare = sum(len(sealed(record, case)) for case in (cases,) for record in records(case, ""))
    padding = "It was \"sent\" on Monday.\n" * max(0, int((megabytes * 1e6 / cases - bare) / 29))
    tests = [f"orders::order_{case}" for case in range(1, cases + 1)]
    number = 2
    with path.open("wb") as file:
        file.write(sealed(head, 1))
        file.write(sealed({"record": "listed", "sets": [{"tests": tests}]}, number))
        for case in range(1, cases + 1):
            for record in records(case, padding):
                number += 1
                file.write(sealed(record, number))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--cases", type=int, default=150_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    report = measure.Report(f"a report of {options.megabytes} MB, {options.cases} cases")
    target = measure.TARGET.parent
    measure.run(["cargo", "build", "--locked", "--release", "-p", "cargo-evalset"], measure.WORKSPACE, CARGO_TARGET_DIR=str(target))
    program = target / "release" / "cargo-evalset"
    folder = measure.TARGET / "report_size" / "large"
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "run.json").write_text('{"run":"large","started":"2026-11-22T02:31:07.250Z"}')
    journal = folder / "app-evals-1-0.jsonl"
    write(journal, options.cases, options.megabytes)
    report.note(f"{journal.stat().st_size / 1e6:.0f} MB written")
    costs = [measure.run([program, "report", folder], folder) for _ in range(options.rounds)]
    seconds = statistics.median(cost.wall for cost in costs)
    memory = max(cost.peak for cost in costs)
    report.note(f"{seconds:.1f} s on the clock, {statistics.median(cost.cpu for cost in costs):.1f} CPU s, {memory:.0f} MB")
    scale = options.megabytes / 500
    report.at_most("seconds, of 6 s for 500 MB", seconds / (6 * scale), 1.0)
    report.at_most("memory, of 400 MB", memory / 400, 1.0)
    shutil.rmtree(folder.parent, ignore_errors=True)
    report.end()


main()
