"""What google-adk makes of a list of cases.

Reads cases from stdin, one JSON object a line, and writes each back with its `answer`. Runs in a
Python that has `google-adk[eval]`; `compare.py` and the tests of exports start it. Numbers that JSON has no text for stand as
{"$number": "NaN"}.
"""

import asyncio
import inspect
import json
import logging
import math
import os
import statistics
import sys
import tempfile
import unicodedata
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

import google.adk.version
from google.adk.evaluation import final_response_match_v1 as response_match
from google.adk.evaluation._eval_set_results_manager_utils import parse_eval_set_result_json
from google.adk.evaluation.agent_evaluator import AgentEvaluator
from google.adk.evaluation.conversation_scenarios import ConversationScenario
from google.adk.evaluation.eval_case import Invocation
from google.adk.evaluation.eval_config import EvalConfig, get_eval_metrics_from_config
from google.adk.evaluation.eval_metrics import EvalMetric
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.evaluation_generator import EvaluationGenerator
from google.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager
from google.adk.evaluation.metric_evaluator_registry import DEFAULT_METRIC_EVALUATOR_REGISTRY
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai.types import Content, Part
from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

import vertex
from documents import Documents
from scenarios import scenario
from whole_runs import whole_run

# A client of Vertex AI is made only where there is a key. Nobody is asked.
os.environ.setdefault("GOOGLE_API_KEY", "none")

TOKENIZER = response_match._UnicodeAwareTokenizer(use_stemmer=True)
STEMMER = PorterStemmer()
ROUGE_TYPES = ["rouge1", "rouge2", "rougeL"]
# The package as it is, and with ADK's tokenizer, which knows more than ASCII.
ASCII_SCORER = RougeScorer(ROUGE_TYPES, use_stemmer=True)
UNICODE_SCORER = RougeScorer(ROUGE_TYPES, tokenizer=TOKENIZER)


def from_json(value):
    """Puts numbers where their names stand."""
    if isinstance(value, dict):
        if "$number" in value:
            return float(value["$number"])
        return {key: from_json(item) for key, item in value.items()}
    return [from_json(item) for item in value] if isinstance(value, list) else value


def to_json(value):
    """Puts names where JSON has no number."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")}
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    return [to_json(item) for item in value] if isinstance(value, list) else value


def versions(_):
    return {
        "google-adk": google.adk.version.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "unicode": unicodedata.unidata_version,
    }


def assigned(_):
    """The ranges of code points that this Python's Unicode knows, first and last."""
    ranges = []
    for code in range(0x110000):
        if unicodedata.category(chr(code)) in ("Cn", "Cs", "Co"):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return ranges


def tokens(text):
    return TOKENIZER.tokenize(text)


def rouge(pair):
    expected, actual = pair
    score = response_match._calculate_rouge_1_scores(actual, expected)
    return [score.precision, score.recall, score.fmeasure]


def rouge_types(scorer):
    def answer(pair):
        scores = scorer.score(*pair)
        return [[float(part) for part in scores[rouge_type]] for rouge_type in ROUGE_TYPES]

    return answer


def means(numbers):
    naive = 0.0
    for number in numbers:
        naive += number
    return [naive / len(numbers), statistics.mean(numbers)]


def turn(events):
    """What ADK's evaluation makes of the events of a turn: of all, and of those that are no parts of streamed ones."""

    def event(recorded):
        recorded = dict(recorded)
        actions = EventActions(skip_summarization=recorded.pop("skip_summarization", None))
        ids = {"call"} if recorded.pop("long_running", False) else None
        return Event(invocation_id="i", actions=actions, long_running_tool_ids=ids, **recorded)

    def converted(recorded):
        # The conversion needs one event of the turn.
        said = Event(author="user", invocation_id="i", content=Content(parts=[Part(text="hi")], role="user"))
        made = EvaluationGenerator.convert_events_to_eval_invocations([said, *map(event, recorded)])[0]
        kept = ("final_response", "intermediate_data")
        return {key: getattr(made, key) and getattr(made, key).model_dump(mode="json", exclude_none=True) for key in kept}

    return [converted(events), converted([each for each in events if not each.get("partial")])]


def metric(job):
    name, criterion = job["metric"], job.get("criterion")
    chosen = EvalMetric(metric_name=name)
    if criterion is not None:
        config = EvalConfig.model_validate({"criteria": {name: criterion}})
        chosen = next(m for m in get_eval_metrics_from_config(config) if m.metric_name == name)
    turns = lambda key: [Invocation.model_validate_json(json.dumps(turn)) for turn in job[key]]
    result = DEFAULT_METRIC_EVALUATOR_REGISTRY.get_evaluator(chosen).evaluate_invocations(
        actual_invocations=turns("actual_invocations"),
        expected_invocations=turns("expected_invocations") if "expected_invocations" in job else None,
    )
    if inspect.isawaitable(result):
        result = asyncio.run(result)
    per_turn = result.per_invocation_results
    details = [turn.token_usage_details or turn.duration_details for turn in per_turn]
    details.append(result.overall_token_usage_details or result.overall_duration_details)
    return {
        "turns": [turn.score for turn in per_turn],
        "overall": result.overall_score,
        "details": [dict(detail) for detail in details if detail is not None],
    }


def scripted(replies):
    """A judge that replies from a list, one entry a call."""

    class Judge(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            reply = replies.pop(0)
            if isinstance(reply, dict):
                raise RuntimeError(reply["error"])
            content = None if reply is None else Content(role="model", parts=[Part(text=reply)])
            yield LlmResponse(content=content)

    return Judge(model="scripted")


def judged(case):
    """What a judged metric makes of turns, when the judge replies in this way."""
    config = EvalConfig.model_validate({"criteria": {case["metric"]: case["criterion"]}})
    chosen = next(m for m in get_eval_metrics_from_config(config) if m.metric_name == case["metric"])
    turns = lambda key: case[key] and [Invocation.model_validate_json(json.dumps(turn)) for turn in case[key]]
    vertex.script(case["replies"])
    try:
        evaluator = DEFAULT_METRIC_EVALUATOR_REGISTRY.get_evaluator(chosen)
        for name in ("_judge_model", "_llm"):
            if hasattr(evaluator, name):
                setattr(evaluator, name, scripted([reply for question in case["replies"] for reply in question]))
        more = {}
        if "scenario" in case:
            more["conversation_scenario"] = ConversationScenario.model_validate(case["scenario"])
        result = evaluator.evaluate_invocations(
            actual_invocations=turns("actual"), expected_invocations=turns("expected"), **more
        )
        if inspect.isawaitable(result):
            result = asyncio.run(result)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    by_id = lambda found: None if not found else {rubric.rubric_id: rubric.score for rubric in found}
    return {
        "turns": [turn.score for turn in result.per_invocation_results],
        "overall": result.overall_score,
        "rubrics": [by_id(turn.rubric_scores) for turn in result.per_invocation_results],
    }


def eval_set(text):
    """A set, loaded and saved again."""
    loaded = EvalSet.model_validate_json(text)
    return loaded.model_dump_json(indent=2, exclude_unset=True, exclude_defaults=True, exclude_none=True)


def document(seed):
    """A random eval set as text, and as it is saved; `None` where it is refused, in whatever way."""
    text = Documents(seed).document()
    try:
        return {"text": text, "saved": eval_set(text)}
    except Exception:
        return {"text": text, "saved": None}


def eval_set_result(text):
    """A result, loaded and saved again."""
    return parse_eval_set_result_json(text).model_dump_json(indent=2)


def saved_results(place):
    """The results of an app that ADK finds in a folder, loaded and saved again."""
    manager = LocalEvalSetResultsManager(place["agents_dir"])
    ids = sorted(manager.list_eval_set_results(place["app_name"]))
    return [manager.get_eval_set_result(place["app_name"], id).model_dump_json(indent=2) for id in ids]


def table(text):
    """The table that `AgentEvaluator` makes of a result."""
    result = parse_eval_set_result_json(text)
    runs = {}
    for run in result.eval_case_results:
        runs.setdefault(run.eval_id, []).append(run)
    rows = []
    for eval_id, of_case in runs.items():
        by_metric = AgentEvaluator._get_eval_metric_results_with_invocation(of_case)
        rows += AgentEvaluator._get_results_as_rows(result.eval_set_id, eval_id, by_metric)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results", "table.csv")
        AgentEvaluator._write_results_to_csv(rows, path)
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()


ANSWERS = {
    "document": document,
    "eval_set": eval_set,
    "judged": judged,
    "eval_set_result": eval_set_result,
    "saved_results": saved_results,
    "scenario": scenario,
    "table": table,
    "versions": versions,
    "assigned": assigned,
    "characters": tokens,
    "tokens": tokens,
    "unassigned": lambda pair: tokens(pair[0]),
    "turns": turn,
    "rouge": rouge,
    "rouge_ascii": rouge_types(ASCII_SCORER),
    "rouge_unicode": rouge_types(UNICODE_SCORER),
    "stems": STEMMER.stem,
    "means": means,
    "rounding": lambda number: round(number, 3),
    "trajectories": metric,
    "responses": metric,
    "usage": metric,
    "whole_run": whole_run,
}


def main():
    for line in sys.stdin:
        case = json.loads(line)
        answer = ANSWERS[case["kind"]](from_json(case["input"]))
        print(json.dumps({**case, "answer": to_json(answer)}))


main()
