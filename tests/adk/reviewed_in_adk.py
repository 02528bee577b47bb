"""Loads a set with google-adk and saves it over itself, twice. Prints what its cases expect, and whether both files were the same.

    reviewed_in_adk.py SET
"""

import json
import pathlib
import shutil
import sys
import tempfile

from google.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager


def expected(case):
    """The answer and the day of the first turn."""
    turn = case.conversation[0]
    return [turn.final_response.parts[0].text, turn.intermediate_data.tool_uses[0].args["day"]]


def main():
    path = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "app" / path.name
        copy.parent.mkdir()
        shutil.copy(path, copy)
        texts = []
        for _ in range(2):
            manager = LocalEvalSetsManager(folder)
            cases = manager.get_eval_set("app", "weather").eval_cases
            for case in cases:
                manager.update_eval_case("app", "weather", case)
            texts.append(copy.read_text())
        shutil.copy(copy, path)
    print(json.dumps({"cases": [expected(case) for case in cases], "is_same": texts[0] == texts[1]}))


main()
