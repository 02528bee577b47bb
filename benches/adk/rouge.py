"""Scores pairs of texts with google-adk's `response_match_score`: seconds of each round as JSON.

    rouge.py PAIRS ROUNDS
"""

import json
import logging
import sys
import time
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

from google.adk.evaluation.final_response_match_v1 import _calculate_rouge_1_scores

with open(sys.argv[1], encoding="utf-8") as file:
    pairs = json.load(file)
seconds = []
for _ in range(int(sys.argv[2])):
    began = time.perf_counter()
    total = sum(_calculate_rouge_1_scores(actual, expected).fmeasure for expected, actual in pairs)
    seconds.append(time.perf_counter() - began)
print(json.dumps({"seconds": seconds, "total": total}))
