#!/usr/bin/env python3
"""Large sets: time and memory of building, listing, running and of nextest, as cases and bytes grow.

    benches/large_sets.py [--cases 1250 2500 5000 10000] [--megabytes 3.75 7.5 15 30] [--no-nextest]

Each line is one step of one set. The last column says how the time of a megabyte has grown against the set
before: 1.0 is linear growth. No target: the table shows the shape of the curves.
"""

import argparse
import subprocess

import cases
import measure


class Sized:
    """A project with one set."""

    def __init__(self, name, count, padding=0):
        self.count = count
        self.project = measure.Project("evals", f"large_{name}")
        text = cases.as_json(cases.eval_set(count, padding=padding))
        self.megabytes = len(text) / 1e6
        self.project.write("evals/orders.evalset.json", text)

    def costs(self, nextest):
        """The cost of each step, the first two from scratch but for the dependencies."""
        cargo = self.project.cargo
        cargo("check", "--locked")
        cargo("build", "--locked")
        yield "check", cargo("check", "--locked", "--tests", CARGO_INCREMENTAL="0")
        yield "build", cargo("test", "--locked", "--test", "evals", "--no-run", CARGO_INCREMENTAL="0")
        yield "list", cargo("test", "--locked", "--test", "evals", "--", "--list", CARGO_INCREMENTAL="0")
        yield "run", cargo("test", "--locked", "--test", "evals", CARGO_INCREMENTAL="0")
        if nextest:
            yield "nextest", cargo("nextest", "run", "--locked", CARGO_INCREMENTAL="0")


def table(report, sets, nextest):
    report.note(f"{'cases':>6} {'MB':>5} {'step':>8} {'CPU s':>7} {'clock s':>8} {'peak MB':>8}  CPU a case, growth per MB")
    before = {}
    for sized in sets:
        for step, cost in sized.costs(nextest):
            size = sized.megabytes
            growth = f"{cost.cpu / before[step][0] / (size / before[step][1]):.2f}" if step in before else ""
            before[step] = (cost.cpu, size)
            report.note(
                f"{sized.count:>6} {sized.megabytes:>5.1f} {step:>8} {cost.cpu:>7.2f} {cost.wall:>8.2f} "
                f"{cost.peak:>8.0f}  {measure.in_ms(cost.cpu / sized.count)} {growth}"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, nargs="*", default=[1250, 2500, 5000, 10_000])
    parser.add_argument("--megabytes", type=float, nargs="*", default=[3.75, 7.5, 15, 30])
    parser.add_argument("--no-nextest", action="store_true")
    options = parser.parse_args()
    report = measure.Report("large sets")
    found = subprocess.run(["cargo", "nextest", "--version"], capture_output=True, check=False).returncode == 0
    nextest = found and not options.no_nextest
    table(report, (Sized(f"cases_{count}", count) for count in options.cases), nextest)
    # The bytes stand in 100 cases, so that what grows is the text.
    per_case = [(size, int(size * 1e6 / 100)) for size in options.megabytes]
    table(report, (Sized(f"{int(size * 1000)}_kb", 100, padding) for size, padding in per_case), nextest)


main()
