"""What google-adk's own evaluation records of an agent.

    PYTHON oracle.py AGENTS APP SET

Prints the set with what the agent did in place of what it should do. A case that fails has a `_error` instead.
"""

import asyncio
import importlib
import json
import logging
import sys

from google.adk.evaluation.base_eval_service import InferenceConfig, InferenceRequest
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from google.adk.evaluation.local_eval_service import LocalEvalService


async def main(agents, app, path):
    sys.path.insert(0, agents)
    agent = importlib.import_module(f"{app}.agent").root_agent
    with open(path, encoding="utf-8") as file:
        cases = EvalSet.model_validate_json(file.read())
    manager = InMemoryEvalSetsManager()
    manager.create_eval_set(app_name=app, eval_set_id=cases.eval_set_id)
    for case in cases.eval_cases:
        manager.add_eval_case(app_name=app, eval_set_id=cases.eval_set_id, eval_case=case)
    service = LocalEvalService(root_agent=agent, eval_sets_manager=manager)
    request = InferenceRequest(
        app_name=app, eval_set_id=cases.eval_set_id, inference_config=InferenceConfig(parallelism=1)
    )
    recorded = {}
    async for result in service.perform_inference(request):
        if result.inferences is None:
            recorded[result.eval_case_id] = {"_error": result.error_message}
        else:
            turns = [turn.model_dump(mode="json", exclude_none=True) for turn in result.inferences]
            recorded[result.eval_case_id] = {"conversation": turns}
    found = [{"eval_id": case.eval_id, **recorded[case.eval_id]} for case in cases.eval_cases]
    print(json.dumps(found))


logging.disable(logging.CRITICAL)
asyncio.run(main(*sys.argv[1:]))
