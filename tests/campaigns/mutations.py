#!/usr/bin/env python3
"""Mutates journals, and holds `cargo evalset` to never panicking and never showing a pass that was not there.

    tests/campaigns/mutations.py [--journals 5000] [--seed 1]

Half of the journals are of a run in which all tests passed, half of one in which some failed and one was killed. Bits are
flipped, pieces are cut out, lines are moved, doubled and taken from another journal, and foreign bytes are put in. A report
that ends with 0 must show exactly the tests of the run in which all passed.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys

from campaign import Campaign, verdicts


def flip_bits(data, chance, _):
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 5, 50))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def cut_out(data, chance, _):
    start = chance.randrange(len(data))
    return data[:start] + data[start + chance.choice((1, 2, 10, 1000, 100_000)) :]


def cut_off(data, chance, _):
    return data[: chance.randrange(len(data))]


def lines(change):
    def mutate(data, chance, other):
        split = data.splitlines(keepends=True)
        change(split, chance, other.splitlines(keepends=True))
        return b"".join(split)

    return mutate


def swap(split, chance, _):
    one, two = chance.randrange(len(split)), chance.randrange(len(split))
    split[one], split[two] = split[two], split[one]


def drop(split, chance, _):
    del split[chance.randrange(len(split))]


def double(split, chance, _):
    split.insert(chance.randrange(len(split) + 1), chance.choice(split))


def from_another(split, chance, other):
    split[chance.randrange(len(split))] = chance.choice(other)


def add_from_another(split, chance, other):
    split.insert(chance.randrange(len(split) + 1), chance.choice(other))


def join(data, chance, other):
    return data + other if chance.random() < 0.5 else other + data


def foreign(data, chance, _):
    pieces = (b"\0", b"\xff\xfe", b"\n", b"\r\n", b'"', b"{}", b"\n\n\n", b"::error::x\n", b"NaN", b"[" * 5000, b"\xef\xbb\xbf",
              '\u202e"'.encode(), b"9" * 400, b'"passed"', b"<<<<<<< HEAD\n")
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(pieces) + data[at:]


def rename(data, chance, _):
    """A verdict or a name by hand, as an editor changes it."""
    pairs = ((b'"failed"', b'"passed"'), (b"order_1", b"order_2"), (b'"error"', b'"passed"'), (b'"test":1,', b'"test":2,'),
             (b'"schema":2', b'"schema":1'), (b'"sum"', b'"sun"'), (b'"set_cases"', b'"set_case_"'))
    old, new = chance.choice(pairs)
    return data.replace(old, new, chance.choice((1, -1)))


MUTATIONS = (flip_bits, flip_bits, cut_out, cut_off, lines(swap), lines(drop), lines(double), lines(from_another),
             lines(add_from_another), join, foreign, rename)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--journals", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    campaign = Campaign("mutations", 9, 3, ", criteria(response_match_score = 0.5)")
    shutil.rmtree(campaign.runs, ignore_errors=True)
    for run in ("good", "bad"):
        subprocess.run(
            [campaign.binary], cwd=campaign.project.folder, env=campaign.environment(run), check=True, capture_output=True
        )
    good = next((campaign.runs / "good").glob("*.jsonl")).read_bytes()
    names = set(verdicts(campaign.runs / "good"))
    assert campaign.evalset("report", run="good")[0] == 0 and len(names) == campaign.total
    # The run in which not all passed: a test of it is another case's journal, sealed anew by nobody.
    bad = [line for line in next((campaign.runs / "bad").glob("*.jsonl")).read_bytes().splitlines(keepends=True)]
    last = max(at for at, line in enumerate(bad) if b'"record":"decided"' in line)
    bad = b"".join(bad[:last])
    written = campaign.runs / "mutated"
    counts = {0: 0, 1: 0, 2: 0}
    for number in range(options.journals):
        base, other = (good, bad) if number % 2 == 0 else (bad, good)
        data = base
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            data = chance.choice(MUTATIONS)(data, chance, other) or b"\n"
        shutil.rmtree(written, ignore_errors=True)
        shutil.copytree(campaign.runs / "good", written, ignore=shutil.ignore_patterns("*.jsonl"))
        (written / "evals.jsonl").write_bytes(data)
        kind = ("report", "--format", "json") if number % 3 else ("report",)
        try:
            code, out = campaign.evalset(*kind, run="mutated")
            if code == 0:
                if base is not good and data != good:
                    raise AssertionError("it was not green")
                if len(kind) > 1:
                    shown = {case["test"]: case["state"] for case in json.loads(out)["cases"]}
                    assert set(shown) == names and set(shown.values()) == {"passed"}, sorted(shown.items())
        except Exception:
            kept = campaign.runs / "found.jsonl"
            kept.write_bytes(data)
            print(f"journal {number}: kept as {kept}")
            raise
        counts[code] += 1
    print(f"{options.journals} mutated journals: no panic; {counts[0]} ended with 0, each with the verdicts of the whole run, "
          f"{counts[1]} with 1, {counts[2]} with 2")
    sys.stdout.flush()


main()
