#!/usr/bin/env python3
"""Kills test runs at any moment, and holds `cargo evalset report` to what it promises of them.

    tests/campaigns/kills.py [--kills 100] [--tests 40] [--seed 1]

So many runs under nextest lose the runner and all its tests (SIGKILL to the session), as many the runner alone, and as many
test binaries of four threads are killed. After each, the report must show every verdict that the journal holds, name the
number of tests that are missing, and end with 0 only if all tests of all sets have a verdict.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

from campaign import Campaign, verdicts


def killed(command, campaign, run, after, with_tests):
    child = subprocess.Popen(
        command, cwd=campaign.project.folder, env=campaign.environment(run), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    time.sleep(after)
    child.kill()
    # nextest puts each test into a group of its own, but in the session that was started here.
    for process in pathlib.Path("/proc").glob("[0-9]*") if with_tests else ():
        try:
            session = int((process / "stat").read_text().rsplit(") ", 1)[1].split()[3])
            if session == child.pid:
                os.kill(int(process.name), signal.SIGKILL)
        except (OSError, ValueError):
            pass
    child.wait()


def sizes(folder):
    return {file.name: file.stat().st_size for file in folder.glob("*.jsonl")}


def check(campaign, run):
    """Holds the report to the journal. Returns whether the run was complete."""
    folder = campaign.runs / run
    while True:
        # Tests whose runner was killed end by themselves, and their journals grow until then.
        before = sizes(folder)
        code, out = campaign.evalset("report", "--format", "json", run=run)
        if sizes(folder) == before:
            break
    if not folder.exists() or not list(folder.glob("*.jsonl")):
        assert code == 2, f"{run}: no journal, and exit code {code}"
        return False
    report = json.loads(out)
    recorded = verdicts(folder)
    shown = {case["test"]: case["state"] for case in report["cases"]}
    for name, verdict in recorded.items():
        expected = verdict or "unfinished"
        assert shown.get(name) == expected, f"{run}: {name} is {expected} in the journal and {shown.get(name)} in the report"
    complete = len(recorded) == campaign.total and all(recorded.values())
    assert (code == 0) == complete, f"{run}: exit code {code}, {len(recorded)} of {campaign.total} tests"
    summary = report["summary"]
    # A process that was killed before its first line says not even which binary it was.
    if any(b"\n" in file.read_bytes() for file in folder.glob("*.jsonl")):
        assert summary["missing"] + len(shown) == campaign.total, f"{run}: {summary}"
    return complete


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--tests", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    campaign = Campaign("kills", options.tests * 3 // 4, options.tests - options.tests * 3 // 4)
    nextest = ["cargo", "nextest", "run", "--locked", "--test", "evals", "--no-fail-fast"]
    kinds = {
        "nextest with its tests": (nextest, True),
        "nextest alone": (nextest, False),
        "a test binary": ([campaign.binary, "--test-threads=4"], True),
    }
    if subprocess.run(["cargo", "nextest", "--version"], capture_output=True, check=False).returncode != 0:
        print("skipped: cargo-nextest is not installed")
        del kinds["nextest with its tests"], kinds["nextest alone"]
    for what, (command, with_tests) in kinds.items():
        shutil.rmtree(campaign.runs, ignore_errors=True)
        for _ in range(2):
            # Once to build what is not built, and once to see how long it takes.
            began = time.perf_counter()
            environment = campaign.environment("whole")
            subprocess.run(command, cwd=campaign.project.folder, env=environment, check=True, capture_output=True)
            takes = time.perf_counter() - began
        assert check(campaign, "whole"), "the run that nobody killed is complete"
        kills = complete = 0
        while kills - complete < options.kills:
            run = f"killed-{kills}"
            killed(command, campaign, run, chance.uniform(0.05, 0.95) * takes, with_tests)
            complete += check(campaign, run)
            kills += 1
        print(
            f"{what}: {kills} kills, of which {kills - complete} left tests without a verdict: none was reported as a pass, "
            "every recorded verdict was reported, and the number that is missing was right"
        )
        sys.stdout.flush()


main()
