#!/usr/bin/env python3
"""`cargo evalset check` over a folder of eval sets: the time it takes per 1,000 files.

    benches/check.py [--files 1000] [--cases 5] [--rounds 5]

Sets of several cases of two turns, in folders of 50, each with a config. Built with optimisation.
"""

import argparse
import shutil

import cases
import measure


def folder_of_sets(files, per_file):
    folder = measure.TARGET / "check"
    shutil.rmtree(folder, ignore_errors=True)
    text = cases.as_json(cases.eval_set(per_file, turns=2))
    for number in range(files):
        place = folder / f"{number // 50:03}"
        if number % 50 == 0:
            place.mkdir(parents=True)
            (place / "test_config.json").write_text('{"criteria": {"response_match_score": 0.5}}', encoding="utf-8")
        (place / f"set_{number}.evalset.json").write_text(text, encoding="utf-8")
    return folder, len(text.encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--cases", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    report = measure.Report("checking a folder of eval sets")

    build = ["cargo", "build", "--release", "--locked", "-p", "cargo-evalset"]
    measure.run(build, measure.WORKSPACE, CARGO_TARGET_DIR=str(measure.TARGET / "shared"))
    program = measure.TARGET / "shared" / "release" / "cargo-evalset"
    folder, size = folder_of_sets(options.files, options.cases)
    report.note(f"{options.files} files of {options.cases} cases, {size / 1e3:.1f} kB each")

    def check(form):
        return lambda: measure.run([program, "check", folder, "--format", form], folder)

    sides = {form: check(form) for form in ("human", "json")}
    for form, costs in measure.alternate(sides, options.rounds).items():
        per_thousand = measure.median(cost.wall for cost in costs) / options.files * 1000
        report.note(f"{form}: at its peak {max(cost.peak for cost in costs):.0f} MB")
        report.at_most(f"{form}, seconds per 1,000 files", per_thousand, 1)
    report.end()


main()
