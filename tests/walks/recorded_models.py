"""Agents whose models are asked once and replayed from then on: of pydantic-ai, behind ADK's server, and in Rust."""

import shutil
import sys

import python_pydantic_ai
from rust_closure import installed
from user import ROOT, User, blocks, hold, shown, step

sys.path.insert(0, str(ROOT / "tests" / "gateway"))
from harness import Provider  # noqa: E402

PAGE = "docs/recorded-models.md"
SET = "evals/weather.evalset.json"
INSTALL = 'cargo install --locked --git "$EVALSET_REPOSITORY" cargo-evalset'


class Keys:
    """The variables of a user who has keys, until the end of the block: a provider on loopback takes them."""

    def __init__(self, user):
        self.user, self.provider = user, Provider(user.place, "tool-rnd-gid")

    def __enter__(self):
        given = self.provider.__enter__()
        addresses = {name.removeprefix("EVALSET_MODELS_UPSTREAM_"): value for name, value in given.items()}
        bases = {"OPENAI": "OPENAI_BASE_URL", "GEMINI": "GOOGLE_GEMINI_BASE_URL"}
        self.before = dict(self.user.env)
        # As a shell has them; for a Rust agent, where requests go on to.
        self.user.env |= given | {variable: addresses[name] for name, variable in bases.items()}

    def __exit__(self, *_):
        self.user.env = self.before
        self.provider.__exit__()


def file(user, name, language):
    """A file of the page: the code block whose first line is its name."""
    (text,) = [it for it in blocks(PAGE, language) if it.startswith(f"# {name}\n")]
    user.writes(name, text)


def replays(user, run, tests, agent):
    """Without keys: a green job, a red one, and a prompt that changed."""
    cases = ["what_is_the_weather_in_paris"]
    user.types(run, says=["1 case: 1 passed"])
    user.job(tests, cases)
    user.edits(SET, '"text": "It is sunny."', '"text": "No idea at all."')
    user.job(tests, cases, failed=cases[0])
    user.edits(SET, '"text": "No idea at all."', '"text": "It is sunny."')
    user.edits(agent, "You tell the weather.", "You tell the weather of today.")
    says = ["recording error in turn 1", "- You tell the weather.", "+ You tell the weather of today."]
    user.types(run, code=2, says=says)
    with Keys(user):
        user.types(f"{shown(PAGE, 'EVALSET_MODELS=record-all')} {run}", says=["1 case: 1 passed"])
    user.types(run, says=["1 case: 1 passed"])
    user.ends()


def golden(user, agent):
    """The first golden and its recording, with the lines of the page for this agent."""
    with Keys(user):
        user.types(shown(PAGE, "echo 'What is the weather in Paris?'"))
        user.types(shown(PAGE, f"{user.command} record prompts.txt {agent}"), says=["evalset accept"])
        user.types(shown(PAGE, f"{user.command} accept evals"), yes=True, says=["accepted"])
        user.types(shown(PAGE, f"EVALSET_MODELS=record {user.command} run evals {agent}"), result="1 case: 1 passed")
    hold((user.folder / "evals" / "weather.evalset.models").is_dir(), "there is no recording")
    return shown(PAGE, f"{user.command} run evals {agent}")


def python(given):
    user = User("models-python", given.bin, command="evalset")
    python_pydantic_ai.environment(user, given)
    user.installs(shown("docs/python.md", "pip install ./python"))
    file(user, "weather.py", "python")
    run = golden(user, "--agent weather:agent")
    replays(user, run, step("--agent"), "weather.py")


def adk(given):
    user = User("models-adk", given.bin, path=[given.python.parent])
    user.installs(shown("README.md", INSTALL))
    file(user, "agents/weather/agent.py", "python")
    user.writes("agents/weather/__init__.py", "")
    run = golden(user, "--adk-cmd")
    replays(user, run, step("--adk-cmd"), "agents/weather/agent.py")


def rust(given):
    user = installed("models-rust", given)
    user.types(shown(PAGE, "cargo evalset new --agent async-openai"), says=["async-openai"])
    # Over http to loopback: no TLS is built.
    user.types(shown(PAGE, "cargo add --dev eval-core", ("record-models", "models")))
    example = ROOT / "examples" / "recorded-models"
    for name in ["tests/weather.rs", SET]:
        shutil.copy(example / name, user.folder / name)
    shutil.copy(example / "Cargo.lock", user.folder)
    case, test = "sunny_in_Paris", "cargo test --locked --no-fail-fast"
    passes = [f"test weather_cases::{case} ... ok"]
    with Keys(user):
        user.types(shown(PAGE, "EVALSET_MODELS=record cargo test"), result=passes[0])
    user.types(shown(PAGE, "cargo test"), says=passes)
    user.job(shown("docs/ci.md", test), [f"weather_cases::{case}"])
    user.edits(SET, '"text": "It is sunny."', '"text": "No idea at all."')
    user.job(shown("docs/ci.md", test), [f"weather_cases::{case}"], failed=case, code=101)
    user.edits(SET, '"text": "No idea at all."', '"text": "It is sunny."')
    user.edits("tests/weather.rs", "Tells the weather in a city.", "Tells the weather of a city.")
    user.types(shown(PAGE, "cargo test"), code=101, says=["recording error in turn 1", "Tells the weather of a city."])
    user.ends()


def walk(given):
    for way in [python, adk, rust]:
        way(given)
