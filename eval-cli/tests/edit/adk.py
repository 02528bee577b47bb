"""What google-adk does with a set that has drafts; run with a Python that has google-adk 2.13.0.

    adk.py AGENTS APP SET_ID

Loads the set `AGENTS/APP/SET_ID.evalset.json`, evaluates all its cases against the app, and saves it with one more case.
Prints as JSON: the ids and the marks that it loaded, and the verdict of each case.
"""

import asyncio
import json
import pathlib
import sys

from google.adk.evaluation.agent_evaluator import AgentEvaluator
from google.adk.evaluation.eval_case import EvalCase
from google.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager


async def main():
    agents, app, set_id = sys.argv[1:]
    sys.path.insert(0, agents)
    manager = LocalEvalSetsManager(agents_dir=agents)
    loaded = manager.get_eval_set(app, set_id)
    marks = {case.eval_id: (case.model_extra or {}).get("_draft") for case in loaded.eval_cases}
    verdicts = {}
    for case in loaded.eval_cases:
        one = pathlib.Path(agents) / f"{case.eval_id}.evalset.json"
        alone = loaded.model_copy(update={"eval_cases": [case]})
        one.write_text(alone.model_dump_json(), encoding="utf-8")
        try:
            await AgentEvaluator.evaluate(app, str(one), num_runs=1, print_detailed_results=False)
            verdicts[case.eval_id] = "passed"
        except AssertionError:
            verdicts[case.eval_id] = "failed"
    more = EvalCase(eval_id="more", conversation=loaded.eval_cases[0].conversation)
    manager.add_eval_case(app, set_id, more)
    print(json.dumps({"marks": marks, "verdicts": verdicts}))


asyncio.run(main())
