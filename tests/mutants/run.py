#!/usr/bin/env python3
"""Changes one thing at a time in the code that decides, and looks whether a test notices.

    tests/mutants/run.py [TARGET..] [--sample N] [--seed S] [--json FILE] [--missed FILE]

`TARGETS` has the parts of the project that are changed. All mutants of all of them are in one build of a copy, in
`target/mutants`: each is an insertion that does nothing until the variable MUTANT has its number. Each test runs alone once, which
tells the mutants that it reaches. Then each mutant runs the tests that reach it, the fastest first, until one fails or takes five
times as long as it should. With `--missed`, those alone that were not caught when an earlier run wrote the file with `--json`.

Prints every mutant that no test catches, and exits with 1 if less than 90 % of those of a target are caught; of a sample, if that
is more than bad luck.
"""

import argparse
import concurrent.futures
import itertools
import json
import math
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

WORKSPACE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", WORKSPACE / "target")).resolve() / "mutants"
COPY = BUILD / "src"
LEAST = 90
JUDGED = "metric/built_in/by_judge/"
# Per target: the crate, its files as globs below `src`, and the tests as package and binary; the crate's own alone if they suffice.
TARGETS = {
    "decide": ("eval-core", ["decide.rs", "decide/*.rs", "verdict.rs", "metric/scores.rs"], [("eval-core", "lib")]),
    "bounds": ("eval-format", ["metric/bound.rs", "options.rs", "config/criterion.rs"], [("eval-format", "lib")]),
    # Without `streams.rs`, which is for tests.
    "process": ("eval-agents", ["process.rs", "process/[!s]*.rs"],
                [("eval-agents", "lib"), ("eval-agents", "agents")]),
    "traces": ("eval-agents", ["traces.rs", "traces/**/*.rs"], [("eval-agents", "lib"), ("eval-agents", "agents")]),
    "replies": ("eval-core", ["judge/reply_*.rs", "judge/judging.rs"] + [
        JUDGED + file for file in ("*.rs", "rubrics/verdicts.rs", "hallucinations/*.rs", "user_simulator_quality/verdict.rs")],
        [("eval-core", "lib")]),
    "programs": ("eval-core", ["metric/command.rs", "metric/command/*.rs"], [("eval-core", "lib")]),
    "report": ("eval-report", ["**/*.rs"],
               [("eval-report", "lib"), ("cargo-evalset", "lib"), ("cargo-evalset", "cli")]),
}
# Features that the tests need: what reads runs is used by the pages of `serve` too.
FEATURES = {"eval-core": "eval-core/judges", "cargo-evalset": "cargo-evalset/serve"}


def files_of(target):
    """The files of a target that are no tests, as paths below the workspace."""
    crate, globs, _ = TARGETS[target]
    source = WORKSPACE / crate / "src"
    found = {path for pattern in globs for path in source.glob(pattern)}
    is_test = lambda path: path.name == "tests.rs" or "tests" in path.relative_to(source).parts
    return sorted(str(path.relative_to(WORKSPACE)) for path in found if not is_test(path))


class Copy:
    """The copy of the project with its mutants."""

    def __init__(self, targets):
        self.targets = targets
        self.target_of = {file: target for target in targets for file in files_of(target)}
        self.crates = sorted({TARGETS[target][0] for target in targets})
        self.left_out, self.mutants = set(), {}
        mutated = set(self.target_of) | {f"{crate}/src/lib.rs" for crate in self.crates}
        listed = subprocess.check_output(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=WORKSPACE, text=True)
        kept = {path for path in listed.splitlines() if os.path.lexists(WORKSPACE / path)}
        for path in sorted(kept - mutated):
            source, copy = WORKSPACE / path, COPY / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink():
                copy.unlink(missing_ok=True)
                copy.symlink_to(os.readlink(source))
            elif copy.is_symlink() or not copy.exists() or copy.read_bytes() != source.read_bytes():
                copy.unlink(missing_ok=True)
                shutil.copy(source, copy)
        for folder, _, names in list(os.walk(COPY)):
            for copy in (pathlib.Path(folder) / name for name in names if name != "mutant.rs"):
                if str(copy.relative_to(COPY)) not in kept:
                    copy.unlink()
        tool = ["cargo", "build", "--quiet", "--locked", "--manifest-path", WORKSPACE / "tests/mutants/Cargo.toml"]
        subprocess.run(tool + ["--target-dir", BUILD / "tool"], check=True)

    def write(self):
        """Writes the mutants but for those that are left out."""
        self.mutants = {}
        # Each crate has numbers of its own, whatever is left out of another.
        for crate, first in zip(self.crates, itertools.count(1, 100_000)):
            files = [file for file in self.target_of if file.startswith(f"{crate}/")]
            for file in files:
                (COPY / file).parent.mkdir(parents=True, exist_ok=True)
            command = [BUILD / "tool/debug/evalset-mutants", WORKSPACE, COPY, str(first), f"{crate}/src/lib.rs", *files]
            numbers = "\n".join(map(str, self.left_out))
            for line in subprocess.run(command, input=numbers, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines():
                number, file, line, kind, function, what = line.split("\t")
                self.mutants[int(number)] = {"target": self.target_of[file], "file": file, "line": int(line), "kind": kind,
                                             "function": [int(line) for line in function.split("-")], "what": what}

    def build(self):
        """Builds the tests, and leaves out what does not compile. Gives the executables by package and name."""
        tests = sorted({test for target in self.targets for test in TARGETS[target][2]})
        command = ["cargo", "test", "--no-run", "--locked", "--message-format=json", "--target-dir", BUILD / "build"]
        for package in sorted({package for package, _ in tests}):
            command += ["-p", package] + (["--features", FEATURES[package]] if package in FEATURES else [])
        for name in sorted({name for _, name in tests}):
            command += ["--lib"] if name == "lib" else ["--test", name]
        while True:
            self.write()
            built = subprocess.run(command, cwd=COPY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
            if built.returncode == 0:
                return {test: executable for message in messages for test, executable in executables(message)}
            wrong = self.not_compiled(messages)
            if not wrong:
                sys.exit(f"the copy does not build:\n{built.stderr[-4000:]}")
            for mutant in (self.mutants[number] for number in sorted(wrong)):
                print(f"does not compile: {place(mutant)}", flush=True)
            self.left_out |= wrong

    def not_compiled(self, messages):
        """The mutants in the lines of errors, arithmetic first; if there are none, those of the function."""
        wrong = set()
        for message in messages:
            diagnostic = message.get("message") or {}
            for span in diagnostic.get("spans", []) if diagnostic.get("level") == "error" else []:
                if not span["is_primary"]:
                    continue
                line, end = span["line_start"], span["line_end"]
                here = {number: mutant for number, mutant in self.mutants.items() if mutant["file"] == span["file_name"]}
                in_lines = {number for number, mutant in here.items() if line <= mutant["line"] <= end}
                arithmetic = {number for number in in_lines if here[number]["kind"] == "arithmetic"}
                of_function = {number for number, mutant in here.items() if line in range(*mutant["function"])}
                wrong |= arithmetic or in_lines or of_function
        return wrong


def place(mutant):
    return f"{mutant['file']}:{mutant['line']}: {mutant['what']}"


def identity(mutant):
    """What a mutant is known by in another run: lines may have moved."""
    return mutant["target"], mutant["file"], mutant["what"]


def executables(message):
    """The test that a message of cargo is about, with its executable."""
    if message.get("reason") == "compiler-artifact" and message["executable"] and message["profile"]["test"]:
        package = pathlib.Path(message["manifest_path"]).parent
        name = "lib" if message["target"]["kind"] == ["lib"] else message["target"]["name"]
        package_name = "cargo-evalset" if package.name == "eval-cli" else package.name
        yield (package_name, name), (message["executable"], package)


class Tests:
    """The tests of the targets, each with the mutants it reaches and the seconds it takes."""

    def __init__(self, built):
        self.built, self.reached, self.seconds = built, {}, {}
        listed = [(binary, name) for binary in built for name in self.names(binary)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failed = list(itertools.compress(listed, [not passed for passed in pool.map(self.trace, listed)]))
        # A test that waits for a process may lack time beside others.
        self.broken = [test for test in failed if not self.trace(test)]

    def names(self, binary):
        """The tests of a binary that are not ignored."""
        executable, folder = self.built[binary]
        both = [subprocess.check_output([executable, "--list", "--format", "terse", *more], cwd=folder, text=True)
                for more in ([], ["--ignored"])]
        listed, ignored = ([line.removesuffix(": test") for line in text.splitlines() if line.endswith(": test")] for text in both)
        return [name for name in listed if name not in set(ignored)]

    def run(self, binary, names, limit, **variables):
        """Whether the tests pass within some seconds."""
        executable, folder = self.built[binary]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("EVALSET_")}
        # No test writes what a later one reads: new snapshots, seeds of failures. What it makes in its temporary folder, which is
        # outside of the project so that it is part of no package, goes with it.
        environment |= {"CARGO_MANIFEST_DIR": str(folder), "INSTA_UPDATE": "no", "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
                        "PROPTEST_RNG_SEED": "1"}
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
            environment |= {"TMPDIR": temporary, **variables}
            test = subprocess.Popen([executable, "--exact", *names], cwd=folder, env=environment, start_new_session=True,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                return test.wait(limit) == 0
            except subprocess.TimeoutExpired:
                os.killpg(test.pid, signal.SIGKILL)
                test.wait()
                return False

    def trace(self, test):
        """Whether a test passes alone; if it does, its mutants and its time are known."""
        binary, name = test
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            if not self.run(binary, [name], 300, MUTANT_TRACE=folder):
                return False
            self.seconds[test] = time.monotonic() - began
            files = [file.read_text().split() for file in pathlib.Path(folder).iterdir()]
            self.reached[test] = {int(number) for number in itertools.chain(*files)}
            return True

    def catch(self, number, binaries):
        """Whether a test fails with this mutant; `None` if no test reaches it."""
        reaching = [test for test, reached in self.reached.items() if test[0] in binaries and number in reached]
        reaching.sort(key=lambda test: self.seconds[test])
        if not reaching:
            return None
        budget = 0.3
        while reaching:
            batch, seconds = [], 0
            while reaching and (not batch or seconds < budget):
                batch.append(reaching.pop(0))
                seconds += self.seconds[batch[-1]]
            for binary in dict.fromkeys(binary for binary, _ in batch):
                names = [name for of, name in batch if of == binary]
                # Tests of processes may fail by themselves on a busy machine: they have to do it twice.
                attempts = 1 if binary[1] == "lib" else 2
                if not any(self.run(binary, names, max(5, 5 * seconds), MUTANT=str(number)) for _ in range(attempts)):
                    return True
            budget *= 4
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--sample", type=int, metavar="N", help="at most so many mutants of each target")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="which ones")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="where to write all results")
    parser.add_argument("--missed", type=pathlib.Path, metavar="FILE", help="only those that FILE, the results of a run, has as missed")
    args = parser.parse_args()
    targets = args.targets or list(TARGETS)
    if unknown := set(targets) - set(TARGETS):
        parser.error(f"unknown: {', '.join(unknown)}; the targets are {', '.join(TARGETS)}")
    copy = Copy(targets)
    began = time.monotonic()
    built = copy.build()
    print(f"{len(copy.mutants)} mutants built in {time.monotonic() - began:.0f} s, without {len(copy.left_out)} that do not compile")
    began = time.monotonic()
    tests = Tests(built)
    print(f"{len(tests.reached)} tests traced in {time.monotonic() - began:.0f} s", flush=True)
    for (package, name), test in tests.broken:
        print(f"left out, as it fails alone without a mutant: {package} {name} {test}")
    dice, enough = random.Random(args.seed), True
    for target in targets:
        mutants = [number for number, mutant in copy.mutants.items() if mutant["target"] == target]
        if args.missed:
            missed = {identity(mutant) for mutant in json.loads(args.missed.read_text()) if not mutant["caught"]}
            mutants = [number for number in mutants if identity(copy.mutants[number]) in missed]
        viable = len(mutants)
        if args.sample and args.sample < viable:
            mutants = sorted(dice.sample(mutants, args.sample))
        binaries = set(TARGETS[target][2])
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = dict(zip(mutants, pool.map(lambda number: tests.catch(number, binaries), mutants)))
        for number, caught in results.items():
            copy.mutants[number] |= {"number": number, "caught": caught}
            if not caught:
                print(f"  {place(copy.mutants[number])} ({'missed' if caught is False else 'no test reaches it'})")
        caught = sum(result is True for result in results.values())
        # A sample may have bad luck: by two standard errors.
        luck = 2 * math.sqrt(LEAST * (100 - LEAST) / len(results)) if len(results) < viable else 0
        enough &= 100 * caught >= (LEAST - luck) * len(results)
        which = f"a sample of {len(results)} (seed {args.seed}) of {viable}" if len(results) < viable else str(viable)
        print(f"{target}: {caught} of {which} viable mutants caught, {100 * caught / len(results):.1f} %, "
              f"in {time.monotonic() - began:.0f} s", flush=True)
    if args.json:
        args.json.write_text(json.dumps([mutant for mutant in copy.mutants.values() if "caught" in mutant], indent=1))
    sys.exit(not enough)


if __name__ == "__main__":
    main()
