#!/usr/bin/env python3
"""`response_match_score` of a pair of texts, against google-adk and against the ROUGE crates.

    benches/rouge.py [--pairs 1000] [--rounds 5]

English answers of 5 to 80 words. rougers gives the same scores (asserted); rust_metrics does not stem, and so
does less. This side and the crates are built with optimisation; google-adk's function is called directly.
"""

import argparse
import json

import measure
import texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    report = measure.Report("response_match_score, per pair of texts")

    path = measure.TARGET / "pairs.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(texts.pairs(options.pairs)))
    python, program = measure.adk_python(), measure.speed("rouge")
    found = measure.alternate(
        {
            "crates": lambda: measure.ask([program, path, 5]),
            "google-adk": lambda: measure.ask([python, measure.BENCHES / "adk/rouge.py", path, 3]),
        },
        options.rounds,
    )
    totals = {run["total"] for runs in found.values() for run in runs}
    if len(totals) != 1:
        raise SystemExit(f"the two sides score differently: {totals}")
    a_pair = {
        name: measure.median(sum((run[name] for run in found["crates"]), [])) / options.pairs
        for name in ("eval-core", "rougers", "rust_metrics")
    }
    a_pair["google-adk"] = measure.median(sum((run["seconds"] for run in found["google-adk"]), [])) / options.pairs
    for name, seconds in a_pair.items():
        report.note(f"{name}: {measure.in_us(seconds)} a pair")
    report.at_least("google-adk / eval-core", a_pair["google-adk"] / a_pair["eval-core"], 100)
    report.at_least("rougers / eval-core", a_pair["rougers"] / a_pair["eval-core"], 1)
    report.at_least("rust_metrics / eval-core", a_pair["rust_metrics"] / a_pair["eval-core"], 1)
    report.end()


main()
