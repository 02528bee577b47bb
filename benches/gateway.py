#!/usr/bin/env python3
"""Recorded calls of models: a replayed call against a direct one, and a case beside the calls of other cases.

    benches/gateway.py [--rounds 5]

Eight conversations at once ask the gateway, and then a server on loopback that answers at once. A case with one recorded call
is opened alone, beside 10,000 calls of 100 other cases, and beside a case of 5,000 calls. Both programs are built with
optimisation; the medians are over the rounds.
"""

import argparse

import measure

EXAMPLE = ["cargo", "run", "--quiet", "--locked", "--release", "-p", "eval-gateway", "--example"]


def example(name):
    return lambda: measure.ask([*EXAMPLE, name], CARGO_TARGET_DIR=str(measure.TARGET.parent))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    report = measure.Report("recorded calls of models")

    found = measure.alternate({"a call": example("latency"), "a case": example("many_calls")}, options.rounds)

    def median(side, of, at):
        return measure.median([measured[of][at] for measured in found[side]]) / 1e6

    calls = {of: [median("a call", of, at) for at in (0, 1)] for of in ("direct", "replayed")}
    for of, (middle, slow) in calls.items():
        report.note(f"{of}: median {measure.in_ms(middle)}, 99th percentile {measure.in_ms(slow)}")
    (direct, _), (replayed, slow) = calls["direct"], calls["replayed"]
    report.note(f"a replayed call takes {replayed / direct:.2f} times as long as a direct one")
    report.at_most("above a direct call, of 1 ms", (replayed - direct) / 1e-3, 1.0)
    report.at_most("its 99th percentile, of 5 ms", slow / 5e-3, 1.0)
    for at, place in enumerate(["from the disk", "compiled in"]):
        alone = median("a case", "alone", at)
        report.note(f"a case with one call, alone, {place}: {measure.in_ms(alone)}")
        for of, beside in {"beside_many": "beside 10,000 calls of others", "beside_large": "beside a case of 5,000 calls"}.items():
            more = median("a case", of, at)
            report.note(f"{beside}: {measure.in_ms(more)}, {more / alone:.2f} times as long")
            report.at_most(f"{beside}, {place}, more, of 1 ms", (more - alone) / 1e-3, 1.0)
    report.end()


main()
