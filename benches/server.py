"""What the measurements against servers share: the program, the stub, sets and runs."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time
import urllib.request

import cases
import measure

CRITERIA = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.1}


def program():
    """`cargo evalset`, built with optimisation."""
    target = measure.TARGET.parent
    measure.run(
        ["cargo", "build", "--locked", "--release", "-p", "cargo-evalset"], measure.WORKSPACE, CARGO_TARGET_DIR=str(target)
    )
    return target / "release" / "cargo-evalset"


@contextlib.contextmanager
def stub(padding=0):
    """A server that answers at once; gives its address."""
    server = subprocess.Popen(
        [measure.built("stub", "stub", "--release"), str(padding)], stdout=subprocess.PIPE, text=True
    )
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.kill()
        server.wait()


@contextlib.contextmanager
def adk(agents, port):
    """google-adk's server, once it answers; gives its address."""
    command = [measure.adk_python(), "-c", "from google.adk.cli import main; main()", "api_server"]
    command += ["--no_use_local_storage", "--port", str(port), str(agents)]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen([str(word) for word in command], stdout=quiet, stderr=quiet)
    url = f"http://127.0.0.1:{port}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                opener.open(f"{url}/list-apps", timeout=5).close()
                break
            time.sleep(0.1)
        yield url, server.pid
    finally:
        server.kill()
        server.wait()


def folder(name, count, padding=0):
    """A folder with a set of so many cases and its config."""
    made = measure.TARGET / name
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    (made / "orders.evalset.json").write_text(cases.as_json(cases.eval_set(count, padding=padding)))
    (made / "test_config.json").write_text(json.dumps({"criteria": CRITERIA}))
    return made


def run(evalset, folder, *arguments):
    """What `cargo evalset run` of the set in a folder takes."""
    # The journal of another round is none of this one.
    shutil.rmtree(folder / "target", ignore_errors=True)
    command = [evalset, "run", "orders.evalset.json", "--app", "shop", *map(str, arguments)]
    return measure.run(command, folder)


def cpu_of(pid):
    """The CPU seconds of a process so far; `None` where the system does not tell."""
    stat = pathlib.Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return None
    fields = stat.read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
