#!/usr/bin/env python3
"""The page of 1,000 and of 10,000 cases with transcripts: until it is usable, and how long it does not react.

    benches/page.py [--rounds 3]

The page is usable when a case that was clicked is shown. Needs Node.js with npm, and Chromium: its path in CHROMIUM, else on the
PATH. The packages of tests/page are installed below the target folder, unless NODE_MODULES names a folder that has them.
"""

import argparse
import json
import os
import shutil
import statistics

import measure


def modules():
    if given := os.environ.get("NODE_MODULES"):
        return given
    folder = measure.TARGET / "page_modules"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(measure.WORKSPACE / "tests" / "page" / "package.json", folder)
    measure.run(["npm", "install", "--no-audit", "--no-fund"], folder)
    return str(folder / "node_modules")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    report = measure.Report("the page of many cases")
    target = measure.TARGET.parent
    measure.run(["cargo", "build", "--locked", "--release", "-p", "cargo-evalset"], measure.WORKSPACE, CARGO_TARGET_DIR=str(target))
    folder = measure.TARGET / "page"
    folder.mkdir(parents=True, exist_ok=True)
    rounds = []
    for _ in range(options.rounds):
        command = ["node", measure.BENCHES / "page.mjs", target / "release" / "cargo-evalset", folder]
        measure.run(command, measure.WORKSPACE, NODE_MODULES=modules())
        rounds.append(json.loads((folder / "page.json").read_text()))
    for cases, usable, unresponsive in ((1000, 1000, 200), (10_000, None, 200)):
        of_size = [one for measured in rounds for one in measured if one["cases"] == cases]
        middle = {key: statistics.median(one[key] for one in of_size) for key in of_size[0]}
        report.note(
            f"{cases} cases, {middle['megabytes']:.1f} MB: usable after {middle['usable']:.0f} ms ({middle['busy']:.0f} ms of work);"
            f" the longest time without a reaction {middle['loading']:.0f} ms while it loads, {middle['using']:.0f} ms while it is used"
        )
        if usable is not None:
            report.at_most(f"{cases} cases: milliseconds until it is usable, of {usable}", middle["usable"] / usable, 1.0)
        worst = max(middle["loading"], middle["using"])
        report.at_most(f"{cases} cases: milliseconds without a reaction, of {unresponsive}", worst / unresponsive, 1.0)
    report.end()


main()
