"""Vertex AI's evaluation service, which answers from a script.

google-adk sends `response_evaluation_score` and the `multi_turn_..` metrics to it. The service tells the mean of what its judge
said; here that is the mean of the samples that can be read, and the checks are those of the lowest one.
"""

import json
import statistics
from types import SimpleNamespace as Namespace

from google.adk.evaluation import vertex_ai_eval_facade as facade


def sample(reply):
    """The score and the checks of a reply; `None` if it cannot be read."""
    try:
        said = json.loads(reply)
    except (TypeError, ValueError):
        return None
    if "rating" in said:
        return (said["rating"], []) if said["rating"] in range(1, 6) else None
    checks = said.get("checks")
    return (statistics.mean(int(check["passes"]) for check in checks), checks) if checks else None


def verdict(check):
    rubric = Namespace(content=Namespace(property=Namespace(description=check["check"])))
    return Namespace(evaluated_rubric=rubric, reasoning=check.get("reasoning"), verdict=check["passes"])


def answer(replies):
    """What the service says of one question."""
    samples = [read for read in map(sample, replies) if read is not None]
    mean = float(statistics.mean(score for score, _ in samples)) if samples else None
    checks = min(samples, key=lambda read: read[0])[1] if samples else []
    error = None if samples else "no judge could be read"
    result = Namespace(rubric_verdicts=[verdict(check) for check in checks], explanation=None, error_message=error)
    candidate = Namespace(metric_results={"metric": result})
    return Namespace(
        summary_metrics=[Namespace(mean_score=mean)],
        eval_case_results=[Namespace(response_candidate_results=[candidate])],
    )


def script(replies):
    """Has google-adk's questions to the service answered by these replies, a list of samples for each question."""
    questions = iter(replies)
    facade.agentplatform = Namespace(Client=lambda **_: None)
    facade._VertexAiEvalFacade._perform_eval = lambda *_, **__: answer(next(questions))
