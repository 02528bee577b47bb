#!/usr/bin/env python3
"""The package of Python, from its source distribution to a run with an agent of Python.

    tests/wheel.py PYTHON

PYTHON has maturin. The wheel is built of the unpacked source distribution, so that this holds all that it takes. It is
installed into an environment of its own, without a network.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "evalset"
PYTHON = str(Path(sys.argv[1]).absolute()) if len(sys.argv) == 2 else sys.exit(__doc__)
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
FOLDER = TARGET / "wheel"
BIN = "Scripts" if os.name == "nt" else "bin"

# The variables of this project and of an active environment change what is found.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith("EVALSET_") and name not in ("VIRTUAL_ENV", "PYTHONPATH")
}
ENVIRONMENT["CARGO_TARGET_DIR"] = str(TARGET)

AGENT = '''"""A clerk who counts."""


def answer(message: str) -> str:
    return f"You said {len(message.split())} words."
'''


def case(name, said):
    content = lambda role, text: {"role": role, "parts": [{"text": text}]}
    return {"eval_id": name, "conversation": [{"user_content": content("user", "one two three"), "final_response": content("model", said)}]}


def run(*command, folder=ROOT, code=0, **options):
    print("+", *command, flush=True)
    ran = subprocess.run([str(word) for word in command], cwd=folder, env=ENVIRONMENT, text=True, **options)
    if ran.returncode != code:
        sys.exit(f"exit code {ran.returncode} in place of {code}: {ran.stdout or ''}{ran.stderr or ''}")
    return ran


def said(*command, **options):
    ran = run(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    return ran.stdout, ran.stderr


def hold(is_so, message):
    if not is_so:
        sys.exit(message)


def build():
    """The wheel, built of the source distribution."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    # Warnings of cargo about each of hundreds of files are no news.
    said(PYTHON, "-m", "maturin", "sdist", "--out", FOLDER, folder=ROOT / "python")
    (archive,) = FOLDER.glob("evalset-*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(FOLDER / "sdist", filter="data")
    (unpacked,) = (FOLDER / "sdist").iterdir()
    # Files in archives have a time of long ago, so cargo would take what it built of other ones for fresh.
    for file in unpacked.rglob("*"):
        os.utime(file)
    run(PYTHON, "-m", "maturin", "build", "--profile", "dev", "--out", FOLDER, folder=unpacked)
    (wheel,) = FOLDER.glob("evalset-*.whl")
    return wheel


def look_into(wheel):
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        texts = {name: opened.read(name).decode() for name in names if "/scripts/" not in name}
    modules = [path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*.py")]
    scripts = [name.split("/scripts/")[1].removesuffix(".exe") for name in names if "/scripts/" in name]
    hold(sorted(scripts) == ["cargo-evalset", "evalset"], f"the programs of the wheel are {scripts}")
    wanted = {*modules, "evalset/py.typed"}
    metadata = {name for name in names if ".dist-info/" in name}
    others = set(names) - metadata - {name for name in names if "/scripts/" in name}
    hold(others == wanted, f"the wheel lacks {sorted(wanted - others)}, and has {sorted(others - wanted)}")
    for name in ["METADATA", "entry_points.txt", "licenses/LICENSE-APACHE", "licenses/LICENSE-MIT"]:
        hold(any(path.endswith(f".dist-info/{name}") for path in metadata), f"the wheel lacks {name}: {sorted(metadata)}")
    entry_points = next(text for name, text in texts.items() if name.endswith("entry_points.txt"))
    hold("[pytest11]\nevalset=evalset.pytest_plugin" in entry_points.replace(" ", ""), entry_points)
    for name, text in {**texts, "the names of files": "\n".join(names)}.items():
        for path in [ROOT, TARGET]:
            hold(str(path) not in text, f"{name} holds the path `{path}` of this machine")


def use(wheel):
    venv = FOLDER / "venv"
    run(PYTHON, "-m", "venv", venv)
    python, evalset, cargo_evalset = (venv / BIN / name for name in ["python", "evalset", "cargo-evalset"])
    run(python, "-m", "pip", "install", "--quiet", "--no-index", wheel)

    version = wheel.name.split("-")[1]
    for command, shown in [([evalset], "evalset"), ([cargo_evalset, "evalset"], "cargo-evalset")]:
        out, _ = said(*command, "--version")
        hold(out == f"{shown} {version}\n", f"the version is {out!r}")
    out, _ = said(evalset, "check", "samples/hotel")
    hold("1 file" in out or "3 files" in out, out)
    # It holds all features: they say what they need rather than that they are not there.
    _, err = said(evalset, "store", "list", "nowhere", code=2)
    hold("this build lacks" not in err, err)

    work = FOLDER / "work"
    work.mkdir()
    (work / "clerk.py").write_text(AGENT, encoding="utf-8")
    cases = [case("right", "You said 3 words."), case("wrong", "No idea")]
    (work / "clerk.evalset.json").write_text(json.dumps({"eval_set_id": "clerk", "eval_cases": cases}), encoding="utf-8")
    metrics = ["-m", "response_match_score=0.8"]
    _, err = said(evalset, "run", "clerk:right", "--agent", "clerk", folder=work, code=2)
    hold("names no object of Python: `clerk`" in err, err)
    if not (PACKAGE / "__main__.py").is_file():
        _, err = said(evalset, "run", "clerk:right", "--agent", "clerk:answer", folder=work, code=2)
        hold("has no package `evalset`" in err, err)
        print("agents of Python: skipped, the package has no `__main__.py`")
        return
    said(evalset, "run", "clerk:right", "--agent", "clerk:answer", *metrics, folder=work)
    out, _ = said(cargo_evalset, "evalset", "run", "clerk", "--agent", "clerk:answer", *metrics, folder=work, code=1)
    hold("cargo evalset run clerk.evalset.json:wrong --agent clerk:answer" in out, out)
    # The interpreter beside the command is the one of its environment, whatever is active.
    ENVIRONMENT["VIRTUAL_ENV"] = str(FOLDER / "none")
    said(evalset, "run", "clerk:right", "--agent", "clerk:answer", *metrics, folder=work)
    out, _ = said(evalset, "report", folder=work)
    hold("1 case: 1 passed" in out, out)


def main():
    wheel = build()
    look_into(wheel)
    use(wheel)
    print(f"{wheel.name} holds what it should, and runs")


main()
