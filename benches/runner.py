#!/usr/bin/env python3
"""Running and scoring a case with the two lexical metrics, against google-adk's AgentEvaluator.

    benches/runner.py [--cases 200] [--rounds 5]

Both sides run the same agent over the same set of two turns a case within one process; starting up and
reading the file do not count. This side is built with optimisation; what it takes as `cargo test` builds it,
without, is printed beside it.
"""

import argparse

import cases
import measure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    report = measure.Report("runner and lexical metrics, per case")

    path = measure.TARGET / "runner.evalset.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(cases.as_json(cases.eval_set(options.cases, turns=2)))
    adk = [measure.adk_python(), measure.BENCHES / "adk/evaluate.py", path, "--inner", "2"]
    programs = {"as tests are built": measure.built("speed", "runner"), "optimised": measure.speed("runner")}
    sides = {name: (lambda program=program: measure.ask([program, path, 5])["eval-core"]) for name, program in programs.items()}
    # The first evaluation of a process also imports what it needs.
    sides["google-adk"] = lambda: measure.ask(adk, measure.BENCHES / "adk")[1:]
    found = measure.alternate(sides, options.rounds)
    a_case = {name: measure.median(sum(rounds, [])) / options.cases for name, rounds in found.items()}
    for name, seconds in a_case.items():
        report.note(f"{name}: {measure.in_us(seconds)} a case")
    report.note(f"as tests are built, google-adk / eval-core: {a_case['google-adk'] / a_case['as tests are built']:.1f}")
    report.at_least("google-adk / eval-core", a_case["google-adk"] / a_case["optimised"], 100)
    report.end()


main()
