"""What google-adk's eval service makes of whole eval sets, played by an agent that follows a script."""

import asyncio
import json
import uuid

from google.adk.agents.base_agent import BaseAgent
from google.adk.evaluation.base_eval_service import (
    EvaluateConfig,
    EvaluateRequest,
    InferenceConfig,
    InferenceRequest,
)
from google.adk.evaluation.eval_config import EvalConfig, get_eval_metrics_from_config
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from google.adk.evaluation.local_eval_service import LocalEvalService
from google.adk.evaluation.simulation.user_simulator_provider import UserSimulatorProvider
from google.adk.events.event import Event


class Scripted(BaseAgent):
    """Answers each message of the user with the events of a script."""

    script: dict

    async def _run_async_impl(self, context):
        for event in self.script[context.user_content.parts[0].text]:
            event = Event.model_validate_json(json.dumps(event))
            event.invocation_id, event.id = context.invocation_id, str(uuid.uuid4())
            yield event


async def play(run):
    eval_set = EvalSet.model_validate_json(json.dumps(run["set"]))
    manager = InMemoryEvalSetsManager()
    manager.create_eval_set("app", eval_set.eval_set_id)
    for case in eval_set.eval_cases:
        manager.add_eval_case("app", eval_set.eval_set_id, case)
    service = LocalEvalService(
        root_agent=Scripted(name="agent", script=run["script"]),
        eval_sets_manager=manager,
        user_simulator_provider=UserSimulatorProvider(),
    )
    request = InferenceRequest(
        app_name="app", eval_set_id=eval_set.eval_set_id, inference_config=InferenceConfig()
    )
    inferences = [it async for it in service.perform_inference(inference_request=request)]
    metrics = get_eval_metrics_from_config(EvalConfig.model_validate_json(json.dumps(run["config"])))
    request = EvaluateRequest(
        inference_results=inferences, evaluate_config=EvaluateConfig(eval_metrics=metrics)
    )
    answer = {}
    async for result in service.evaluate(evaluate_request=request):
        scores = {it.metric_name: [it.score, it.eval_status.name] for it in result.overall_eval_metric_results}
        answer[result.eval_id] = {"status": result.final_eval_status.name, "metrics": scores}
    return answer


def whole_run(run):
    return asyncio.run(play(run))
