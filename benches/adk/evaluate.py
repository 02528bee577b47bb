"""Evaluates a set with google-adk's AgentEvaluator and prints the verdict.

    evaluate.py SET [--inner ROUNDS]

With `--inner`, prints the seconds of each evaluation as JSON, without start-up and reading.
"""

import asyncio
import contextlib
import io
import json
import logging
import pathlib
import sys
import time
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

from google.adk.evaluation.agent_evaluator import AgentEvaluator
from google.adk.evaluation.eval_config import EvalConfig
from google.adk.evaluation.local_eval_sets_manager import load_eval_set_from_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
CONFIG = EvalConfig(criteria={"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8})


def evaluate(eval_set):
    asyncio.run(
        AgentEvaluator.evaluate_eval_set(
            "shop", eval_set, eval_config=CONFIG, num_runs=1, print_detailed_results=False
        )
    )


def main():
    eval_set = load_eval_set_from_file(sys.argv[1], "orders")
    if len(sys.argv) == 2:
        evaluate(eval_set)
        print(f"{len(eval_set.eval_cases)} cases passed")
        return
    seconds = []
    for _ in range(int(sys.argv[3])):
        with contextlib.redirect_stdout(io.StringIO()):
            began = time.perf_counter()
            evaluate(eval_set)
            seconds.append(time.perf_counter() - began)
    print(json.dumps(seconds))


main()
