"""What the scripts share: commands in alternation, their cost, the machine, and ratios beside targets."""

import dataclasses
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BENCHES = pathlib.Path(__file__).resolve().parent
WORKSPACE = BENCHES.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", WORKSPACE / "target")).resolve() / "benches"
ADK = "google-adk[eval]==2.13.0"


@dataclasses.dataclass
class Cost:
    """What a command took: seconds of all cores, seconds on the clock, megabytes at its peak."""

    cpu: float
    wall: float
    peak: float


class Project:
    """A cargo project made from one of `crates/`, built where nothing else is."""

    def __init__(self, crate, name=None, target="shared"):
        self.folder = TARGET / "projects" / (name or crate)
        self.target = TARGET / target
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(BENCHES / "crates" / crate, self.folder)
        manifest = (self.folder / "Cargo.toml").read_text()
        manifest = manifest.replace('path = "../../../', f'path = "{WORKSPACE.as_posix()}/')
        manifest = manifest.replace(f'name = "{crate}"', f'name = "{name or crate}"', 1)
        lock = (self.folder / "Cargo.lock").read_text().replace(f'name = "{crate}"', f'name = "{name or crate}"')
        self.write("Cargo.toml", manifest)
        self.write("Cargo.lock", lock)

    def write(self, path, text):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def touch(self, path):
        os.utime(self.folder / path)

    def cargo(self, *arguments, **environment):
        """Runs cargo in the project; stops everything when it fails."""
        return run(["cargo", *arguments], self.folder, CARGO_TARGET_DIR=str(self.target), **environment)


def environment(**extra):
    """The environment of a command: this one, without what a surrounding cargo has put into it."""
    kept = ("CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_SOURCE_")
    ours = ("CARGO", "EVALSET_", "NEXTEST", "RUSTFLAGS", "RUST_")
    plain = {k: v for k, v in os.environ.items() if k.startswith(kept) or not k.startswith(ours)}
    return {**plain, "CARGO_TERM_COLOR": "never", **extra}


def run(command, folder, **extra):
    """Runs a command to its end; what it printed is shown only where it fails."""
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        child = subprocess.Popen(
            [str(part) for part in command], cwd=folder, env=environment(**extra), stdout=output, stderr=output
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            output.seek(0)
            sys.stderr.buffer.write(output.read()[-20_000:])
            sys.exit(f"failed with {child.returncode}: {' '.join(map(str, command))}")
    # Linux counts the memory of the largest process below, in kilobytes; macOS in bytes.
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Cost(usage.ru_utime + usage.ru_stime, wall, kilobytes / 1024)


def ask(command, folder=WORKSPACE, **extra):
    """Runs a command that measures itself and prints JSON."""
    command = [str(part) for part in command]
    done = subprocess.run(command, cwd=folder, env=environment(**extra), stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"failed with {done.returncode}: {' '.join(command)}")
    return json.loads(done.stdout.splitlines()[-1])


def alternate(sides, rounds):
    """Runs each side once a round, A B A B, so that a busy machine is busy for all of them.

    `sides` maps a name to a function that runs once and returns what it measured; returns lists of that.
    """
    found = {name: [] for name in sides}
    for number in range(rounds):
        for name, measure in sides.items():
            progress(f"round {number + 1} of {rounds}: {name}")
            found[name].append(measure())
    progress("")
    return found


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def median(numbers):
    return statistics.median(numbers)


def mean(numbers):
    return statistics.fmean(numbers)


def adk_python():
    """A Python that has google-adk: the one named by ADK_PYTHON, else one in a venv made here, once."""
    named = os.environ.get("ADK_PYTHON")
    if named:
        return named
    folder = TARGET / "adk"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        base = shutil.which("python3.11") or sys.executable
        print(f"installing {ADK} into {folder}", file=sys.stderr)
        subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", ADK], check=True)
        (folder / "ready").touch()
    return str(python)


def speed(program):
    """One of the programs of `crates/speed`, built with optimisation."""
    return built("speed", program, "--release")


def built(crate, program, *flags):
    folder = BENCHES / "crates" / crate
    run(["cargo", "build", "--locked", "--bins", *flags], folder, CARGO_TARGET_DIR=str(TARGET / "shared"))
    return TARGET / "shared" / ("release" if "--release" in flags else "debug") / program


def machine():
    """Prints what is measured on, and what with."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    rustc = subprocess.run(["rustc", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{model}, {os.cpu_count()} cores{load}; {rustc}; Python {platform.python_version()}", flush=True)


class Report:
    """Prints each ratio beside its target; `end` tells by the exit code whether all hold."""

    def __init__(self, title):
        self.short = 0
        print(f"== {title}")
        machine()

    def note(self, text):
        print(f"   {text}", flush=True)

    def at_most(self, what, ratio, target):
        self._judge(what, ratio, "at most", target, ratio <= target)

    def at_least(self, what, ratio, target):
        self._judge(what, ratio, "at least", target, ratio >= target)

    def _judge(self, what, ratio, word, target, holds):
        self.short += not holds
        print(f"   {what}: ratio {ratio:.2f} (target {word} {target:g}) {'ok' if holds else 'SHORT'}", flush=True)

    def end(self):
        sys.exit(1 if self.short else 0)


def in_ms(seconds):
    return f"{seconds * 1e3:.2f} ms"


def in_us(seconds):
    return f"{seconds * 1e6:.2f} us"
