"""google-adk's own verdicts on a set: PYTHON evaluate.py AGENTS APP SET

Prints a JSON object of the verdicts by the ids of the cases.
"""

import asyncio
import importlib
import json
import logging
import sys

from google.adk.evaluation.base_eval_service import EvaluateConfig, EvaluateRequest, InferenceConfig, InferenceRequest
from google.adk.evaluation.eval_metrics import EvalMetric
from google.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from google.adk.evaluation.local_eval_service import LocalEvalService
from google.adk.evaluation.local_eval_sets_manager import load_eval_set_from_file


async def main(agents, app, path):
    sys.path.insert(0, agents)
    agent = importlib.import_module(f"{app}.agent").root_agent
    cases = load_eval_set_from_file(path, "loaded")
    manager = InMemoryEvalSetsManager()
    manager.create_eval_set(app_name=app, eval_set_id=cases.eval_set_id)
    for case in cases.eval_cases:
        manager.add_eval_case(app_name=app, eval_set_id=cases.eval_set_id, eval_case=case)
    service = LocalEvalService(root_agent=agent, eval_sets_manager=manager)
    request = InferenceRequest(
        app_name=app, eval_set_id=cases.eval_set_id, inference_config=InferenceConfig(parallelism=1)
    )
    inferred = [result async for result in service.perform_inference(request)]
    metrics = [
        EvalMetric(metric_name="tool_trajectory_avg_score", threshold=1.0),
        EvalMetric(metric_name="response_match_score", threshold=0.8),
    ]
    request = EvaluateRequest(inference_results=inferred, evaluate_config=EvaluateConfig(eval_metrics=metrics))
    verdicts = {result.eval_id: result.final_eval_status.name async for result in service.evaluate(request)}
    print(json.dumps(verdicts))


logging.disable(logging.CRITICAL)
asyncio.run(main(*sys.argv[1:]))
