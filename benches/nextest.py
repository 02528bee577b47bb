#!/usr/bin/env python3
"""Sets under nextest, a process for each test: the time grows with the tests, not with the set.

    benches/nextest.py [--cases 3000] [--rounds 5]

The time of a test, in CPU seconds, in a set of many cases is compared with that in a set of a tenth of them
(linear growth), and with that in a set of as many cases in a file of ten times the size (the size of the set).

The test harness itself lists, sorts and filters all tests of a binary in each process, so that the test of a
large binary costs more whoever wrote it. Crates of as many one-line tests by hand show how much; the growth of
ours is judged against theirs.
"""

import argparse
import subprocess

import cases
import measure


def evals(name, count, padding=0):
    made = measure.Project("evals", f"nextest_{name}")
    made.write("evals/orders.evalset.json", cases.as_json(cases.eval_set(count, padding=padding)))
    return made


def by_hand(name, count):
    made = measure.Project("by_hand", f"nextest_{name}")
    head = (made.folder / "tests/evals.rs").read_text()
    made.write("tests/evals.rs", head + cases.by_hand(count))
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    report = measure.Report(f"{options.cases} cases under nextest")
    if subprocess.run(["cargo", "nextest", "--version"], capture_output=True, check=False).returncode != 0:
        report.note("skipped: cargo-nextest is not installed")
        return

    many, few = options.cases, options.cases // 10
    projects = {
        "few": evals("few", few),
        "many": evals("many", many),
        "large": evals("large", many, padding=10_000),
        "few by hand": by_hand("few_by_hand", few),
        "many by hand": by_hand("many_by_hand", many),
    }
    for made in projects.values():
        made.cargo("nextest", "run", "--locked", "--no-run")
    found = measure.alternate(
        {name: (lambda made=made: made.cargo("nextest", "run", "--locked")) for name, made in projects.items()},
        options.rounds,
    )
    a_test = {}
    for name, made in projects.items():
        count = few if name.startswith("few") else many
        cpu, wall = (measure.median([getattr(cost, kind) for cost in found[name]]) for kind in ("cpu", "wall"))
        a_test[name] = cpu / count
        path = made.folder / "evals/orders.evalset.json"
        what = "tests by hand" if name.endswith("by hand") else f"cases, {path.stat().st_size / 1e6:.1f} MB"
        report.note(
            f"{count} {what}: {cpu:.1f} CPU s, {wall:.1f} s on the clock, {measure.in_ms(a_test[name])} a test"
        )
    growth = a_test["many"] / a_test["few"]
    by_itself = a_test["many by hand"] / a_test["few by hand"]
    report.note(f"ten times the tests: a case takes {growth:.2f} times as long, a test by hand {by_itself:.2f} times")
    report.at_most("growth with the cases, over that of tests by hand", growth / by_itself, 1.1)
    # Each pair ran one after the other. The difference is smaller than that between two rounds.
    pairs = zip(found["many"], found["large"])
    report.at_most("ten times the bytes, per test", measure.median([large.cpu / many.cpu for many, large in pairs]), 1.1)
    report.end()


main()
