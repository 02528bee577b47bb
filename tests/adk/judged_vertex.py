"""Cases for the metrics that google-adk sends to Vertex AI, as `judged_cases.py` has them; `vertex.py` answers in its place."""

import json

from judged_cases import case, turn, turns

MOST_UNREAD = "where most samples cannot be read, nothing is decided"
UNREAD = "a turn that no sample could be read of has no error as a rubric"
NOTHING_SAID = "a turn without an answer is not judged"


def rating(number):
    return json.dumps({"reasoning": "r", "rating": number})


def rated(name, *of_turns, **more):
    """A case with the ratings of each turn; `None` is a reply that cannot be read."""
    replies = [[None if number is None else rating(number) for number in samples] for samples in of_turns]
    actual = more.pop("actual", None) or turns(len(replies))
    criterion = {"threshold": 3}
    return case(name, replies, actual, actual, criterion, samples=len(of_turns[0]), **more)


RESPONSE_EVALUATION = [
    *(rated(f"a {number}", [number]) for number in range(1, 6)),
    rated("three samples", [5, 2, 4]),
    rated("five samples", [4, 4, 5, 3, 4]),
    rated("one of three cannot be read", [5, None, 4]),
    rated("two of five cannot be read", [None, 1, 5, None, 5]),
    rated("half of them cannot be read", [None, 2]),
    rated("two turns", [4], [1]),
    rated("seven turns", *([1 + n % 5] for n in range(7))),
    rated("three turns with samples", [5, 4, 4], [3, 3, 4], [1, 5, None]),
    rated("another answer than the expected one", [4], actual=[turn(answer="No idea.")]),
    rated("two of three cannot be read", [5, None, None], difference=MOST_UNREAD,
          here={"turns": [None], "overall": None}),
    rated("one of two turns cannot be read", [4], [None], difference=UNREAD,
          here={"turns": [4.0, None], "overall": 4.0}),
    rated("a turn without an answer", [5], [3], actual=[turn(), turn(user="And 8?", answer=None)],
          difference=NOTHING_SAID, here={"turns": [5.0, None], "overall": 5.0}),
]


def checks(**passes):
    return json.dumps({"checks": [{"check": name, "reasoning": "r", "passes": met} for name, met in passes.items()]})


def checked(name, *samples, count=1, **more):
    """A case with the checks of each sample, of so many turns."""
    return case(name, [list(samples)], turns(count), samples=len(samples), **more)


MULTI_TURN = [
    checked("met", checks(goal=True)),
    checked("not met", checks(goal=False)),
    checked("one of three", checks(a=True, b=False, c=False), count=3),
    checked("two of three", checks(a=True, b=False, c=True), count=2),
    checked("two samples", checks(a=True), checks(a=True, b=False), count=2),
    checked("three samples", checks(a=True, b=True, c=False), checks(a=False, b=True), checks(a=True), count=2),
    checked("one of three cannot be read", checks(a=True, b=False), None, checks(a=True), count=2),
    checked("half of them cannot be read", "I cannot tell.", checks(a=False)),
    checked("two of three cannot be read", checks(a=True), None, None, count=2, difference=MOST_UNREAD,
            here={"turns": [None, None], "overall": None}),
    checked("none can be read", None, count=2, difference=UNREAD, here={"turns": [None, None], "overall": None}),
]

VERTEX = {
    "response_evaluation_score": RESPONSE_EVALUATION,
    "multi_turn_task_success_v1": MULTI_TURN,
    "multi_turn_trajectory_quality_v1": MULTI_TURN,
    "multi_turn_tool_use_quality_v1": MULTI_TURN,
}
