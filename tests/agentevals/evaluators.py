#!/usr/bin/env python3
"""agentevals' own evaluators as metrics, unchanged.

    tests/agentevals/evaluators.py PYTHON target/debug/cargo-evalset FOLDER

PYTHON has `agentevals-cli==0.11.0`, `agentevals-evaluator-sdk` and `pyyaml`; the first may lack its dependencies. The
evaluators are those that `agentevals evaluator init` makes, in each language that can run here, and the one in the readme of
the SDK. Each scores a case of two turns, and its score is compared with what it writes when it is started by hand with the
same question. agentevals' own types read the question, and must know each key of it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MAKE = """
import importlib.util, json, pathlib, sys
from importlib.metadata import distribution

package = pathlib.Path(distribution("agentevals-cli").locate_file("agentevals"))
spec = importlib.util.spec_from_file_location("templates", package / "evaluator" / "templates.py")
templates = importlib.util.module_from_spec(spec)
spec.loader.exec_module(templates)
for name in ["made_py.py", "made_js.js", "made_ts.ts"]:
    templates.scaffold_evaluator(name, pathlib.Path(sys.argv[1]))
pathlib.Path(sys.argv[1], "readme.md").write_text(distribution("agentevals-evaluator-sdk").metadata.get_payload() or "")
"""

READ = """
import importlib.util, json, pathlib, sys
from importlib.metadata import distribution

package = pathlib.Path(distribution("agentevals-cli").locate_file("agentevals"))
spec = importlib.util.spec_from_file_location("protocol", package / "_protocol.py")
protocol = importlib.util.module_from_spec(spec)
sys.modules["protocol"] = protocol
spec.loader.exec_module(protocol)
text = pathlib.Path(sys.argv[1]).read_text()
read = protocol.EvalInput.model_validate_json(text)
# A key that the types do not know would be missing here.
assert read.model_dump(mode="json", exclude_unset=True) == json.loads(text), "a key that agentevals does not have"
assert read.protocol_version == protocol.PROTOCOL_VERSION
"""

DUMP = """import pathlib, sys

pathlib.Path("asked.json").write_text(sys.stdin.read())
print('{"score": 1}')
"""

AGENT = """import evalset


@evalset.tool
def get_weather(city: str) -> dict:
    return {"sky": "sunny", "city": city}


def agent(message: str) -> str:
    return f"It is {get_weather('Paris')['sky']}."
"""


def content(role, text):
    return {"role": role, "parts": [{"text": text}]}


def turn(answer):
    return {
        "user_content": content("user", "Paris?"),
        "final_response": content("model", answer),
        "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Paris"}}]},
    }


def evaluators(python, folder):
    """The words of the command of each evaluator, by name."""
    subprocess.run([python, "-c", MAKE, folder], check=True)
    found = {"made_py": ["made_py/made_py.py"]}
    node = shutil.which("node")
    if node:
        found["made_js"] = ["made_js/made_js.js"]
        types = folder / "types.ts"
        types.write_text("const n: number = 1;\n")
        if subprocess.run([node, types], capture_output=True).returncode == 0:
            found["made_ts"] = ["made_ts/made_ts.ts"]
    readme = (folder / "readme.md").read_text()
    example = next(code for code in re.findall(r"```python\n(.*?)```", readme, re.S) if ".run()" in code)
    (folder / "readme.py").write_text(example)
    found["readme"] = ["readme.py"]
    (folder / "dump.py").write_text(DUMP)
    found["dump"] = ["dump.py"]
    return found


def main():
    python, program, folder = sys.argv[1], str(Path(sys.argv[2]).resolve()), Path(sys.argv[3]).resolve()
    # Without links resolved: an environment is known by its path.
    python = os.path.abspath(python)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = evaluators(python, folder)
    config = {
        "criteria": {name: {"threshold": 0.5, "max_words": 3} for name in found},
        "custom_metrics": {name: {"command": words, "timeout": 120} for name, words in found.items()},
    }
    (folder / "test_config.json").write_text(json.dumps(config))
    cases = [{"eval_id": "two", "conversation": [turn("It is sunny."), turn("Sunny.")]}]
    (folder / "weather.evalset.json").write_text(json.dumps({"eval_set_id": "weather", "eval_cases": cases}))
    (folder / "weather.py").write_text(AGENT)
    env = os.environ | {"EVALSET_PYTHON": python, "PYTHONPATH": str(ROOT / "python")}
    words = ["run", "weather.evalset.json", "--agent", "weather:agent", "--json", "report.json"]
    ran = subprocess.run([program, *words], cwd=folder, env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    report = json.loads((folder / "report.json").read_text())
    metrics = {metric["name"]: metric for metric in report["cases"][0]["metrics"]}
    asked = (folder / "asked.json").read_text()
    subprocess.run([python, "-c", READ, folder / "asked.json"], check=True)
    for name, (path, *_) in found.items():
        runner = python if path.endswith(".py") else "node"
        alone = subprocess.run([runner, path], cwd=folder, input=asked, capture_output=True, text=True, check=True)
        expected = json.loads(alone.stdout)["score"]
        assert metrics[name]["score"] == expected, (name, metrics[name], expected)
        print(f"{name}: {expected}")
    print(f"{len(found)} evaluators of agentevals scored a case as when they are asked alone")


if __name__ == "__main__":
    main()
