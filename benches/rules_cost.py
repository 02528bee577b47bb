#!/usr/bin/env python3
"""The cost of compiling cases with rules: a set whose cases have `_expect` against the same set without.

    benches/rules_cost.py [--cases 200] [--rounds 7]

Two copies of one crate hold the sets. Each is built as a whole (`cargo test --no-run`), its dependencies being built already,
without incremental compilation, in alternation. The ratio is of CPU seconds.
"""

import argparse

import cases
import measure

RULES = {"1": {"calls": {"lookup_order": {"order_id": {"min": 0}}}, "answer": {"contains": ["Order"]}}}


def project(name, count, rules):
    made = measure.Project("evals", name)
    made.write("tests/words.txt", "\n".join(cases.WORDS))
    made.write("evals/words.txt", "\n".join(cases.WORDS))
    eval_set = cases.eval_set(count)
    if rules:
        for case in eval_set["eval_cases"]:
            case["_expect"] = RULES
    made.write("evals/orders.evalset.json", cases.as_json(eval_set))
    made.cargo("test", "--no-run", "--locked", CARGO_INCREMENTAL="0")
    return made


def build(made):
    made.touch("tests/evals.rs")
    return made.cargo("test", "--no-run", "--locked", CARGO_INCREMENTAL="0").cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    report = measure.Report("compile cost of a set with rules, CPU time")

    sides = {"without": False, "with": True}
    projects = {name: project(f"rules_{name}", options.cases, rules) for name, rules in sides.items()}
    found = measure.alternate(
        {name: (lambda made=made: build(made)) for name, made in projects.items()}, options.rounds
    )
    without, with_rules = (measure.median(found[name]) for name in sides)
    report.note(f"{options.cases} cases: {without:.2f} s without `_expect`, {with_rules:.2f} s with it")
    report.at_most("against the same cases without rules", with_rules / without, 1.1)
    report.end()


main()
