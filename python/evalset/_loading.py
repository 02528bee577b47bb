"""The object that `MODULE:OBJECT` names."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import types
from pathlib import Path
from typing import Any

from . import _errors
from ._errors import AgentError, describe

# Packages whose name is not the name of their module.
PACKAGES = {
    "agents": "openai-agents",
    "google.adk": "google-adk",
    "google.genai": "google-genai",
    "opentelemetry": "opentelemetry-sdk",
    "pydantic_ai": "pydantic-ai",
}


def load(name: str) -> Any:
    """Imports a module and returns the object in it. An `AgentError` says what is wrong."""
    module_name, _, path = name.partition(":")
    if not module_name or not path or "/" in module_name or "\\" in module_name or module_name.endswith(".py"):
        raise AgentError(_not_a_name(name, module_name, path))
    module = _module(module_name)
    found: Any = module
    for key in path.split("."):
        try:
            found = getattr(found, key)
        except AttributeError:
            raise AgentError(_no_object(name, module, path)) from None
    return found


def _module(name: str) -> types.ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        _errors.show(error)
        missing = error.name or ""
        if name == missing or name.startswith(f"{missing}."):
            raise AgentError(_no_module(name, missing)) from None
        help = "" if _errors.hiding_file(error) else f"{_missing(missing)}: "
        raise AgentError(f"cannot import `{name}`: {help}{describe(error)}") from None
    except BaseException as error:
        _errors.show(error)
        raise AgentError(f"cannot import `{name}`: {describe(error)}; the traceback is on standard error") from None


def _missing(module: str) -> str:
    """What helps if an agent imports a module that is missing. It is said first, as messages are cut."""
    parent, _, last = module.rpartition(".")
    # Several packages share a namespace such as `google`, which is there if one of them is.
    is_there = parent in sys.modules and getattr(sys.modules[parent], "__file__", None) is not None
    if is_there:
        version = f"`-m pip show {_package(parent)}` of {sys.executable}"
        return f"`{parent}` is installed without `{last}`, so its version may be the wrong one; {version}"
    return f"install `{_package(module)}` (`-m pip install {_package(module)}` of {sys.executable})"


def _package(module: str) -> str:
    for known, package in PACKAGES.items():
        if module == known or module.startswith(f"{known}."):
            return package
    return module.split(".")[0].replace("_", "-")


def _not_a_name(name: str, module: str, path: str) -> str:
    meant = module.removesuffix(".py").strip("./\\").replace("/", ".").replace("\\", ".") or "my_module"
    return f"`{name}` does not name an agent as MODULE:OBJECT; write `{meant}:{path or 'agent'}`"


def _no_module(name: str, missing: str) -> str:
    files = [path.stem for path in Path().glob("*.py")] + [path.parent.name for path in Path().glob("*/__init__.py")]
    parent, _, last = missing.rpartition(".")
    if parent:
        file = getattr(sys.modules.get(parent), "__file__", None)
        # A folder without `__init__.py` comes after all packages.
        folder = Path(*parent.split("."))
        if file and folder.is_dir() and not Path(file).resolve().is_relative_to(folder.resolve()):
            return f"there is no module `{last}` in `{parent}`, as {file} hides the folder `{folder}`; rename the folder"
        return f"there is no module `{last}` in `{parent}`, so `{name}` cannot be imported{f' ({file})' if file else ''}"
    close = difflib.get_close_matches(missing, files, 1)
    meant = f"is `{close[0]}` meant?" if close else "run the command in the folder that has it, or install it;"
    return f"there is no module `{missing}`: {meant} it is not in {os.getcwd()}, and not installed for {sys.executable}"


def _no_object(name: str, module: types.ModuleType, path: str) -> str:
    from .adapters import kind_of

    own = [
        key
        for key, value in vars(module).items()
        if not key.startswith("_")
        and not isinstance(value, types.ModuleType)
        and getattr(value, "__module__", module.__name__) == module.__name__
        or kind_of(value) not in (None, "function", "class")
    ]
    close = difflib.get_close_matches(path, own, 1)
    has = ", ".join(f"`{key}`" for key in own[:8]) or "nothing"
    meant = f"is `{module.__name__}:{close[0]}` meant? it" if close else "it"
    return f"`{module.__name__}` has no `{path}`, as `{name}` says: {meant} has {has} ({module.__file__})"
