"""What google-adk's eval service makes of whole eval sets, played by an agent that follows a script."""

import asyncio
import json
import statistics
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


def decide(result):
    """The metrics and the status of a case as `AgentEvaluator` decides them: by the exact mean of the turns.

    The service's mean has rounding errors: it fails turns of 1.0, 1.0 and 0.4 at a threshold of 0.8.
    """
    metrics, status = {}, result.final_eval_status.name
    turns = [turn.eval_metric_results for turn in result.eval_metric_result_per_invocation]
    for metric in result.overall_eval_metric_results:
        name, score, decided = metric.metric_name, metric.score, metric.eval_status.name
        if decided in ("PASSED", "FAILED"):
            scores = [it.score for turn in turns for it in turn if it.metric_name == name and it.score is not None]
            score = statistics.mean(scores)
            decided = "PASSED" if score >= metric.threshold else "FAILED"
        metrics[name] = [score, decided]
    if status in ("PASSED", "FAILED"):
        status = "FAILED" if "FAILED" in (decided for _, decided in metrics.values()) else "PASSED"
    return {"status": status, "metrics": metrics}


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
        answer[result.eval_id] = decide(result)
    return answer


def whole_run(run):
    return asyncio.run(play(run))
