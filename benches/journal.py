#!/usr/bin/env python3
"""What the journal costs: the same tests with it and without.

    benches/journal.py [--cases 10000] [--rounds 9]

The agent works for a millisecond and answers; each case has one turn and both lexical metrics. Built as `cargo test`
builds, run as it runs them. The time of starting up is in both sides.
"""

import argparse
import os
import shutil

import cases
import measure

TEST = """
use std::time::{Duration, Instant};

use eval_core::{Agent, BoxError, Turn, eval_set};

struct Busy;

impl Agent for Busy {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(1) {
            std::hint::spin_loop();
        }
        evals::Shop.turn(turn).await
    }
}

#[eval_set("evals/orders.evalset.json")]
fn orders() -> impl Agent {
    Busy
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    report = measure.Report(f"the journal of {options.cases} cases")

    project = measure.Project("evals", "journal")
    project.write("evals/orders.evalset.json", cases.as_json(cases.eval_set(options.cases)))
    project.write("tests/evals.rs", TEST)
    project.cargo("test", "--locked", "--no-run")
    folder = measure.TARGET / "journal"
    shutil.rmtree(folder, ignore_errors=True)

    def side(journal):
        def run():
            # The system writes to the disk what the round before has left, in no side's time.
            getattr(os, "sync", lambda: None)()
            return project.cargo(
                "test", "--locked", "--quiet", EVALSET_JOURNAL=journal, EVALSET_DIR=str(folder), EVALSET_KEEP="1"
            )

        return run

    found = measure.alternate({journal: side(journal) for journal in ("off", "on")}, options.rounds)
    # Tests remove no runs, so that of each round is there.
    written = sum(file.stat().st_size for file in folder.glob("*/*.jsonl"))
    report.note(f"{written / options.cases / options.rounds / 1e3:.1f} kB a case")
    for kind, what in (("cpu", "CPU"), ("wall", "on the clock")):
        pairs = [(getattr(off, kind), getattr(on, kind)) for off, on in zip(found["off"], found["on"])]
        without = measure.median([off for off, _ in pairs]) / options.cases
        more = measure.median([on - off for off, on in pairs]) / options.cases
        report.note(f"{what}: {measure.in_us(without)} a case without, {measure.in_us(more)} more with")
        # Each pair ran one after the other. The difference is smaller than that between two rounds.
        ratio = measure.median([on / off for off, on in pairs])
        if kind == "cpu":
            report.at_most(f"{what}, with / without", ratio, 1.10)
        else:
            report.note(f"{what}, with / without: {ratio:.2f}")
    report.end()


main()
