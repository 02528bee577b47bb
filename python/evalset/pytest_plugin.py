"""Cases of eval sets as tests of pytest: `pytest --evalset evals --evalset-agent my_module:agent`.

The command `evalset` runs all selected cases in one run. Under pytest-xdist each case has a run of its own.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ._command import ENDS, EvalsetError, no_item_of, run_command, shown_in

SETTINGS = {
    "agent": "the agent of the cases of eval sets, as `module:object`",
    "args": "options of `evalset run`, such as `--runs 3`",
    "command": "the command `evalset`, if it is neither beside this Python nor on the PATH",
}
REPORTS = pytest.StashKey["dict[tuple[Path, str], Any]"]()
SETS = pytest.StashKey["list[Path]"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("evalset")
    group.addoption("--evalset", action="append", default=[], metavar="PATH", help="an eval set, or a folder with eval sets")
    for name, text in SETTINGS.items():
        group.addoption(f"--evalset-{name}", default=None, help=text)
        parser.addini(f"evalset_{name}", text)


def pytest_configure(config: pytest.Config) -> None:
    paths = [config.invocation_params.dir / path for path in config.getoption("evalset")]
    config.stash[SETS] = [path.resolve() for path in paths]
    for path in paths:
        if not path.exists():
            help = "; give items as arguments of pytest" if "::" in path.name else ""
            raise pytest.UsageError(f"--evalset {path}: there is no such file or folder{help}")
    try:
        shlex.split(setting(config, "args") or "")
    except ValueError as error:
        raise pytest.UsageError(f"evalset_args has an open quote, {setting(config, 'args')!r}: {error}; close it") from None
    if paths and not setting(config, "agent"):
        raise pytest.UsageError("--evalset needs --evalset-agent my_module:agent, or `evalset_agent` in the ini file")
    config.args.extend(map(str, paths))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each named path has given an item. A set that cannot be read is told already, and `--lf` passes over what passed."""
    for path in [] if session.testsfailed or config.getoption("lf", False) else config.stash[SETS]:
        if not any(isinstance(item, Case) and item.path.resolve().is_relative_to(path) for item in items):
            # A worker of pytest-xdist can say it in this way only.
            session.shouldfail = f"--evalset {path}: {no_item_of(path, config.rootpath, config.getini('norecursedirs'))}"
            raise pytest.UsageError(session.shouldfail)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    named, path = parent.config.stash[SETS], file_path.resolve()
    is_below = not named or any(path.is_relative_to(one) for one in named)
    is_set = path in named or path.name.endswith(ENDS if named else ENDS[0])
    is_ours = is_below and is_set and setting(parent.config, "agent")
    return EvalSet.from_parent(parent, path=file_path) if is_ours else None


class EvalSet(pytest.File):
    def collect(self) -> Iterable[pytest.Item]:
        try:
            listed = evalset(self.config, "list", str(shown_in(self.config.invocation_params.dir, self.path)))[0]
        except EvalsetError as error:
            raise self.CollectError(str(error)) from None
        if refused := listed["not_listed"]:
            raise self.CollectError("\n".join(f"{one['message']}\n  help: {one['help']}" for one in refused))
        for found in listed["sets"][0]["cases"]:
            yield Case.from_parent(self, name=found["eval_id"], is_draft=found["draft"] is not None)


class Case(pytest.Item):
    def __init__(self, *, is_draft: bool, **given: Any) -> None:
        super().__init__(**given)
        self.is_draft = is_draft

    def runtest(self) -> None:
        if self.is_draft:
            name = shlex.quote(f"{self.path}:{self.name}")
            raise EvalsetError(f"the case is a draft, and not accepted yet; review it: evalset accept {name}")
        if (report := result_of(self))["state"] == "skipped":
            pytest.skip(report["reason"] or "skipped")
        if report["state"] != "passed":
            failure = report["failure"] or f"{report['state']}: {report['reason']}"
            raise EvalsetError("\n".join([failure, "", f"run again     {self.again()}", *report["next"]]))

    def again(self) -> str:
        """The command that runs this case alone."""
        words = [f"-o{one}" for one in self.config.getoption("override_ini") or () if one.startswith("evalset_")]
        words += [f"--evalset-{name}={value}" for name in SETTINGS if (value := self.config.getoption(f"evalset_{name}"))]
        return shlex.join(["pytest", f"{shown_in(self.config.invocation_params.dir, self.path)}::{self.name}", *words])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, EvalsetError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


def result_of(case: Case) -> dict[str, Any]:
    stash, is_worker = case.session.stash, hasattr(case.config, "workerinput")
    if is_worker or REPORTS not in stash:
        cases = [one for one in case.session.items if isinstance(one, Case) and not one.is_draft]
        stash[REPORTS] = run(case.config, [case] if is_worker else cases)
    if isinstance(report := stash[REPORTS].get((case.path.resolve(), case.name)), dict):
        return report
    raise EvalsetError(str(report or "the run has no result of the case"))


def run(config: pytest.Config, cases: list[Case]) -> dict[tuple[Path, str], Any]:
    """Runs cases. Each has its report, or the reason why there is none."""
    here = config.invocation_params.dir
    program = shlex.join([sys.executable, "-m", "evalset", str(setting(config, "agent"))])
    words = [*(f"{shown_in(here, case.path)}:{case.name}" for case in cases), "--agent-cmd", program]
    try:
        # Before the package itself, on the path of the program.
        if hiding := [str(folder / "evalset.py") for folder in (here, config.rootpath) if (folder / "evalset.py").is_file()]:
            raise EvalsetError(f"{hiding[0]} hides the package `evalset`; rename it")
        document, code = evalset(config, "run", *words, *shlex.split(setting(config, "args") or ""))
        # A case has a report for each variant of a matrix. The worst counts, which is the last.
        found = sorted(document["cases"], key=lambda one: {"passed": 0, "skipped": 1}.get(one["state"], 2))
        reports = {((here / case["place"]["file"]).resolve(), case["eval_id"]): case for case in found}
        next_commands = [f"whole record  evalset report {shlex.quote(id)}" for id in document.get("runs", ())]
        for case in reports.values():
            case["next"] = [f"new golden    {it}" for it in [case["new_golden"]] if it] + next_commands
        if code != 0 and all(case["state"] in ("passed", "skipped") for case in reports.values()):
            raise EvalsetError("; ".join(one["message"] for one in document["problems"]) or f"evalset ended with {code}")
    except EvalsetError as error:
        return {(case.path.resolve(), case.name): error for case in cases}
    return reports


def evalset(config: pytest.Config, *words: str) -> tuple[dict[str, Any], int]:
    """Runs the command; its document and its exit code. Modules are found as in the tests."""
    paths = [config.rootpath / path for path in config.getini("pythonpath")] + [config.rootpath]
    return run_command(setting(config, "command"), words, config.invocation_params.dir, paths)


def setting(config: pytest.Config, name: str) -> str | None:
    """An option, or else the value of the ini file."""
    return config.getoption(f"evalset_{name}") or config.getini(f"evalset_{name}") or None
