#!/usr/bin/env python3
"""Reading and checking an eval set, against `serde_json::from_slice::<Value>`.

    benches/reading.py [FILE ...] [--rounds 5]

Without files: the largest samples of the repository and generated sets of several shapes. Built with
optimisation. `check_set` finds every problem, builds the typed set and knows where each case stands.
"""

import argparse
import json

import cases
import measure


def files():
    """Sets of several shapes: indented and not, short and long texts, the many nulls that ADK writes."""
    folder = measure.TARGET / "reading"
    folder.mkdir(parents=True, exist_ok=True)
    plain = cases.eval_set(1000, turns=2)
    shapes = {
        "indented": cases.as_json(plain),
        "compact": json.dumps(plain, separators=(",", ":")),
        "long_strings": cases.as_json(cases.eval_set(300, padding=10_000)),
        "nulls": cases.as_json(with_nulls(plain)),
        "arguments": cases.as_json(with_arguments(plain)),
    }
    for name, text in shapes.items():
        (folder / f"{name}.evalset.json").write_text(text, encoding="utf-8")
    samples = sorted((measure.WORKSPACE / "samples").glob("**/*.evalset.json"), key=lambda path: -path.stat().st_size)
    return samples[:2] + [folder / f"{name}.evalset.json" for name in shapes]


def with_nulls(eval_set):
    """The keys that ADK writes although they hold nothing."""
    part_keys = ("video_metadata", "thought", "inline_data", "file_data", "thought_signature", "executable_code")
    part_keys += ("code_execution_result", "function_call", "function_response")
    nulls = dict.fromkeys(part_keys)
    for case in eval_set["eval_cases"]:
        for turn in case["conversation"]:
            for key in ("user_content", "final_response"):
                turn = {**turn, key: {**turn[key], "parts": [{**nulls, **part} for part in turn[key]["parts"]]}}
            case["conversation"] = [turn if t["invocation_id"] == turn["invocation_id"] else t for t in case["conversation"]]
    return eval_set


def with_arguments(eval_set):
    """Calls with much in their arguments, which no schema describes."""
    for case in eval_set["eval_cases"]:
        for turn in case["conversation"]:
            turn["intermediate_data"]["tool_uses"][0]["args"] = {
                "filter": {"status": ["open", "paid"], "total": {"min": 12.5, "max": 1e3}, "flags": [True, None, 7]},
                "columns": [{"name": f"column_{at}", "width": at * 3, "shown": at % 2 == 0} for at in range(12)],
            }
    return eval_set


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    report = measure.Report("reading and checking a file")

    paths = options.files or files()
    program = measure.speed("reading")
    sides = {str(path): (lambda path=path: measure.ask([program, path, 10])) for path in paths}
    for path, runs in measure.alternate(sides, options.rounds).items():
        ours, theirs = (measure.median(sum((run[side] for run in runs), [])) for side in ("check_set", "serde_json"))
        name = path.rsplit("/", 1)[-1]
        report.note(f"{name}: check_set {measure.in_ms(ours)}, serde_json {measure.in_ms(theirs)}")
        report.at_most(name, ours / theirs, 3)
    report.end()


main()
