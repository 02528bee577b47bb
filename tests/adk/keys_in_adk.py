"""Loads a set with google-adk, updates its cases and saves it. Prints its verdicts on what keys of evalset allow.

    keys_in_adk.py AGENTS DAY

Prints the trajectory scores of a call of another day and of the same, and whether an answer passes the threshold of the config.
"""

import json
import pathlib
import sys

from google.adk.evaluation.eval_config import get_evaluation_criteria_or_default
from google.adk.evaluation.eval_metrics import EvalMetric
from google.adk.evaluation.final_response_match_v1 import RougeEvaluator
from google.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager
from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator

ANSWER = "Sunny and warm."


def main():
    folder, day = sys.argv[1:]
    manager = LocalEvalSetsManager(folder)
    for case in manager.get_eval_set("app", "weather").eval_cases:
        case.conversation[0].final_response.parts[0].text = ANSWER
        manager.update_eval_case("app", "weather", case)
    expected = manager.get_eval_case("app", "weather", "one").conversation
    assert expected[0].final_response.parts[0].text == ANSWER
    actual = [turn.model_copy(deep=True) for turn in expected]
    actual[0].intermediate_data.tool_uses[0].args["day"] = day
    actual[0].final_response.parts[0].text = "Sunny."
    evaluator = TrajectoryEvaluator(threshold=1.0)
    scores = [evaluator.evaluate_invocations(turns, expected).overall_score for turns in (actual, expected)]
    name = "response_match_score"
    threshold = get_evaluation_criteria_or_default(str(pathlib.Path(folder) / "app/test_config.json")).criteria[name]
    answers = RougeEvaluator(EvalMetric(metric_name=name, threshold=threshold))
    statuses = [answers.evaluate_invocations(turns, expected).overall_eval_status.name for turns in (actual, expected)]
    print(json.dumps({"scores": scores, "statuses": statuses}))


main()
