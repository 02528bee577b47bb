"""google-adk's answers to what `migrate` and `fmt` do; run with a Python that has google-adk 2.13.0.

    adk.py test-file OLD NEW [SESSION]   AgentEvaluator's migration of an old test file
    adk.py eval-set OLD NEW              the conversion of an old eval set by the manager of local sets
    adk.py save FILE NEW                 how that manager saves an eval set
"""

import json
import pathlib
import sys

from google.adk.evaluation.agent_evaluator import AgentEvaluator
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.local_eval_sets_manager import convert_eval_set_to_pydantic_schema


def main():
    mode, old, new, *session = sys.argv[1:]
    text = pathlib.Path(old).read_text(encoding="utf-8")
    if mode == "test-file":
        AgentEvaluator.migrate_eval_data_to_new_schema(old, new, *session)
        return
    if mode == "eval-set":
        answer = convert_eval_set_to_pydantic_schema("old", json.loads(text)).model_dump_json(indent=2)
    else:
        answer = EvalSet.model_validate_json(text).model_dump_json(
            indent=2, exclude_unset=True, exclude_defaults=True, exclude_none=True
        )
    pathlib.Path(new).write_text(answer, encoding="utf-8")


main()
