#!/usr/bin/env python3
"""Sets under nextest, a process for each test: the time grows with the tests, not with the set.

    benches/nextest.py [--cases 5000] [--rounds 3]

The time of a test, in CPU seconds, in a set of many cases is compared with that in a set of a tenth of them
(linear growth), and with that in a set of as many cases in a file of ten times the size (the size of the set).
"""

import argparse
import subprocess

import cases
import measure


def project(name, count, padding):
    made = measure.Project("evals", f"nextest_{name}")
    made.write("evals/orders.evalset.json", cases.as_json(cases.eval_set(count, padding=padding)))
    made.cargo("nextest", "run", "--locked", "--no-run")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    report = measure.Report(f"{options.cases} cases under nextest")
    if subprocess.run(["cargo", "nextest", "--version"], capture_output=True, check=False).returncode != 0:
        report.note("skipped: cargo-nextest is not installed")
        return

    sizes = {"few": (options.cases // 10, 0), "many": (options.cases, 0), "large": (options.cases, 10_000)}
    projects = {name: project(name, *size) for name, size in sizes.items()}
    found = measure.alternate(
        {name: (lambda made=made: made.cargo("nextest", "run", "--locked")) for name, made in projects.items()},
        options.rounds,
    )
    a_test = {}
    for name, (count, _) in sizes.items():
        cpu, wall = (measure.median([getattr(cost, kind) for cost in found[name]]) for kind in ("cpu", "wall"))
        size = (projects[name].folder / "evals/orders.evalset.json").stat().st_size / 1e6
        a_test[name] = cpu / count
        report.note(f"{count} cases, {size:.1f} MB: {cpu:.1f} CPU s, {wall:.1f} s on the clock, {measure.in_ms(a_test[name])} a test")
    report.at_most("ten times the cases, per test", a_test["many"] / a_test["few"], 1.1)
    report.at_most("ten times the bytes, per test", a_test["large"] / a_test["many"], 1.1)
    report.end()


main()
