"""An agent in Rust, from the first lines of the README."""

import shutil

from user import ROOT, User, hold, shown

SET = "evals/weather.evalset.json"
CASES = ["weather_cases::sunny_in_Paris", "weather_cases::rainy_in_Oslo"]


def installed(name, given):
    env = {"CARGO_TARGET_DIR": str(given.target), "CARGO_INCREMENTAL": "0", "CARGO_PROFILE_DEV_DEBUG": "0"}
    user = User(name, given.bin, **env)
    user.installs(shown("README.md", 'cargo install --locked --git "$EVALSET_REPOSITORY" cargo-evalset'))
    return user


def jobs(user):
    """The green job, and a red one: the golden of Oslo demands another city, as `new` says how to see a failure."""
    tests = shown("docs/ci.md", "cargo test --locked --no-fail-fast")
    user.job(tests, CASES)
    user.edits(SET, '"args": { "city": "Oslo" }', '"args": { "city": "Bergen" }')
    # cargo's own code.
    log = user.job(tests, CASES, failed="rainy in Oslo", code=101)
    next_commands = ["review        cargo evalset review ", "whole record  cargo evalset report "]
    for text in ['~ expected get_weather(city: "Bergen")', *next_commands]:
        hold(text in log, f"{text!r} is not in {log}")


def walk(given):
    user = installed("rust", given)
    says = ["made the package `my-agent`", f"wrote `{SET}`", "cargo test --test weather"]
    user.types(shown("README.md", "cargo evalset new"), says=says)
    # The versions of this workspace, which are built already.
    shutil.copy(ROOT / "Cargo.lock", user.folder)
    passes = ["test result: ok. 2 passed"]
    user.types(shown("README.md", "cargo test"), result="test weather_cases::sunny_in_Paris ... ok", says=passes)

    # The failure that `new` tells how to make, and its way back: the agent changed on purpose.
    user.edits("tests/weather.rs", "It is {sky} in {city}.", "{city}: {sky}")
    said = user.types("cargo test", code=101, says=["response_match_score is 0", "review        cargo evalset review "])
    hold(said.count("review        cargo evalset review ") == 2, said)
    for case in CASES:
        user.types(f"cargo evalset import :{case} --replace", says=["draft"])
    user.types(shown("README.md", "cargo evalset accept support", ("support", "weather")), yes=True, says=["accepted"])
    user.types("cargo test", says=passes)
    user.types("cargo evalset report --html report.html", says=["2 cases: 2 passed"])
    page = (user.folder / "report.html").read_text()
    hold(all(case in page for case in CASES), "the page lacks a case")
    user.types("rm report.html")
    jobs(user)
    user.ends()
