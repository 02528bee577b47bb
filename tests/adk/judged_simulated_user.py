"""Cases for `per_turn_user_simulator_quality_v1`; see `judged_cases.py`.

A question for each message after the first, and one for the end of the conversation.
"""

from judged_cases import CONTRADICTION, LAST, case, error, turn

YES, NO = ('{"criteria": [], "is_valid": %s}' % word for word in ("true", "false"))
SCENARIO = {"starting_prompt": "Hi", "conversation_plan": "Book a room for two nights."}
MESSAGES = ["Hi", "A room.", "Two nights.", "Thanks.", "Bye.", "Really."]


def messages(name, *replies, said=None, scenario=None, **more):
    """A case of as many messages as questions; each with its samples."""
    replies = [list(of_turn) if isinstance(of_turn, (list, tuple)) else [of_turn] for of_turn in replies]
    actual = [turn(user=text, answer="Yes?") for text in said or MESSAGES[: len(replies)]]
    scenario = {**SCENARIO, **(scenario or {})}
    return case(name, replies, actual, samples=len(replies[0]), scenario=scenario, **more)


UNREAD = "a verdict that cannot be read is asked for again and then leaves the message unscored"
LOST_END = {"turns": [1.0, None], "overall": 1.0}

SIMULATED_USER = [
    messages("the starting prompt", YES),
    messages("blanks around the starting prompt", YES, said=[" Hi\n"], scenario={"starting_prompt": "Hi  "}),
    messages("another first message", YES, said=["Hello"]),
    messages("two messages", YES, YES),
    messages("an invalid message", NO, YES),
    messages("the third of three", YES, NO, YES),
    messages("two of six", NO, YES, NO, YES, YES, YES),
    messages("the end is not valid", YES, NO),
    messages("the end is not valid after an invalid message", NO, NO),
    messages("the end is not valid after the starting prompt", NO),
    messages("the end is not valid after another first message", NO, said=["Hello"]),
    messages("3 of 5 find it valid", [NO, YES, YES, NO, YES], [YES] * 5),
    messages("2 of 5 find it valid", [NO, YES, YES, NO, NO], [YES] * 5),
    messages("a tie", [NO, YES], [YES, YES]),
    messages("a tie about the end", [YES, YES], [YES, NO]),
    messages("2 of 3 find the end not valid", [YES, YES, YES], [YES, NO, NO]),
    messages("one of each and one unsure", [NO, "I cannot tell.", YES], [YES] * 3),
    messages("two valid and one empty", [YES, None, YES], [YES] * 3),
    *(messages(f"label {label}", f'{{"is_valid": {label}}}', YES) for label in (
        '"valid"', '["TRUE"]', '[[ "true" ]]', "True", '"true,}"', '"almost"', '"Partially Valid"', '"partially_valid"',
        "partially", '"invalid"', "False",
    )),
    messages("in a fence", '```json\n{\n  "is_valid": true\n}\n```', YES),
    messages("key first", '{"is_valid": false, "criteria": []}', YES),
    messages("a line break after it", '"is_valid": true\nThat is all.', YES, difference=LAST, here=LOST_END),
    messages("a line break after a no", '"is_valid": false\nThat is all.', YES),
    messages("a ready-made persona", YES, YES, scenario={"user_persona": "EXPERT"}),
    messages("another stop signal", YES, NO, criterion={"stop_signal": "bye"}),
    messages("a low threshold", NO, NO, criterion={"threshold": 0.25}),
    messages("a message without a verdict", ["?", "?"], [YES, YES], difference=UNREAD,
             here={"turns": [1.0, None], "overall": 1.0}),
    messages("a label that is none", '{"is_valid": "unsure"}', YES, difference=UNREAD, here=LOST_END),
    messages("a blank before the colon", '{"is_valid" : true}', YES, difference=UNREAD, here=LOST_END),
    messages("most samples without a verdict", [YES, "?", "?"], [YES] * 3, difference=UNREAD, here=LOST_END),
    messages("an end without a verdict", YES, "?", difference=UNREAD, here=LOST_END),
    messages("one of three samples fails", [YES, error(), YES], [YES] * 3, here={"turns": [1.0, 1.0], "overall": 1.0},
             difference="one sample that fails does not end the metric"),
    messages("two verdicts", f"The message says {YES} itself.\n{NO}", YES, difference=CONTRADICTION, here=LOST_END),
    messages("a note on another verdict", f"{NO}\nThe message says {YES} itself.", YES),
]
