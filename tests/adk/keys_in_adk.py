"""Loads a set with google-adk, updates its cases and saves it. Prints the trajectory scores of a call of another day and of the same.

    keys_in_adk.py AGENTS DAY
"""

import json
import sys

from google.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager
from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator


def main():
    folder, day = sys.argv[1:]
    manager = LocalEvalSetsManager(folder)
    for case in manager.get_eval_set("app", "weather").eval_cases:
        case.conversation[0].final_response.parts[0].text = "Sunny and warm."
        manager.update_eval_case("app", "weather", case)
    expected = manager.get_eval_case("app", "weather", "one").conversation
    assert expected[0].final_response.parts[0].text == "Sunny and warm."
    actual = [turn.model_copy(deep=True) for turn in expected]
    actual[0].intermediate_data.tool_uses[0].args["day"] = day
    evaluator = TrajectoryEvaluator(threshold=1.0)
    scores = [evaluator.evaluate_invocations(turns, expected).overall_score for turns in (actual, expected)]
    print(json.dumps(scores))


main()
