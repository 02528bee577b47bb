#!/usr/bin/env python3
"""From an edit to all verdicts: one expectation of a set changes, then every case is evaluated anew.

    benches/edit_loop.py [--cases 100 1000] [--rounds 5]

This side: `cargo test`, which builds what has changed and runs all cases. google-adk: a script that calls
AgentEvaluator with the same criteria, which is faster than `adk eval` and than pytest. The agent is the same
and needs no model. Times are on the clock.
"""

import argparse

import cases
import measure

TARGETS = {100: 5, 1000: 2}


class Loop:
    def __init__(self, count):
        self.cases = cases.eval_set(count)
        self.edits = 0
        self.project = measure.Project("evals", f"edit_loop_{count}")
        self.set = self.project.folder / "evals/orders.evalset.json"
        self.python = measure.adk_python()

    def edit(self):
        """Adds a word to the expected answer of the case in the middle; it passes as before."""
        self.edits += 1
        middle = self.cases["eval_cases"][len(self.cases["eval_cases"]) // 2]
        order = int(middle["eval_id"].rsplit("_", 1)[1])
        part = middle["conversation"][0]["final_response"]["parts"][0]
        part["text"] = f"{cases.answer(order)} Edit {self.edits}."
        self.project.write("evals/orders.evalset.json", cases.as_json(self.cases))

    def cargo_test(self):
        self.edit()
        return self.project.cargo("test", "--locked", "--test", "evals").wall

    def google_adk(self):
        self.edit()
        script = measure.BENCHES / "adk/evaluate.py"
        return measure.run([self.python, script, self.set], measure.BENCHES / "adk").wall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    report = measure.Report("edit one expectation until all verdicts are printed")
    for count in options.cases:
        loop = Loop(count)
        sides = {"cargo test": loop.cargo_test, "google-adk": loop.google_adk}
        measure.alternate(sides, 1)
        found = measure.alternate(sides, options.rounds)
        ours, theirs = (measure.median(found[side]) for side in sides)
        report.note(f"{count} cases: cargo test {ours:.2f} s, google-adk {theirs:.2f} s")
        report.at_least(f"{count} cases, google-adk / cargo test", theirs / ours, TARGETS.get(count, 2))
    report.end()


main()
