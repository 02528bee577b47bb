"""Cases for judged metrics: turns, criteria, and what the judge replies.

Each list is a metric's. A case without `difference` must score alike here and in google-adk; one with it names what
is done otherwise on purpose, and what comes out here. `replies` has a list for each question, in the order in which
google-adk asks them, and in it an entry for each sample: a text, `None` for a response without content, or an error.
A question that is asked again gets the same reply.
"""


def turn(user="Where is order 7?", answer="In Paris.", rubrics=None, calls=(), said=None):
    """A turn; `said` is what the agent says on the way."""
    parts = [{"function_call": {"name": name, "args": args}} for name, args, _ in calls]
    parts += [{"function_response": {"name": name, "response": response}} for name, _, response in calls]
    events = [{"author": "clerk", "content": {"role": "model", "parts": [part]}} for part in parts]
    if said is not None:
        events.insert(0, {"author": "clerk", "content": {"role": "model", "parts": [{"text": said}]}})
    made = {"user_content": {"role": "user", "parts": [{"text": user}]}}
    if answer is not None:
        made["final_response"] = {"role": "model", "parts": [{"text": answer}]}
    if events:
        made["intermediate_data"] = {"invocation_events": events}
    if rubrics is not None:
        made["rubrics"] = rubrics
    return made


def case(name, replies, actual=None, expected=None, criterion=None, samples=1, **more):
    """A case; one turn where nothing is said."""
    made = {"threshold": 0.5, "judge_model_options": {"num_samples": samples}, **(criterion or {})}
    actual = actual or [turn()]
    return {"name": name, "criterion": made, "actual": actual, "expected": expected, "replies": replies, **more}


def error(text="no connection"):
    return {"error": text}


def turns(count, **more):
    """Turns that differ, so that questions do."""
    return [turn(user=f"Where is order {n}?", **more) for n in range(count)]


# final_response_match_v2

KEY, OTHER = '"is_the_agent_response_valid"', '"is_the_agent_response_invalid"'
VALID, INVALID = (f'{{"reasoning": "r", {KEY}: "{label}"}}' for label in ("valid", "invalid"))
UNSURE = f'{{"reasoning": "r", {KEY}: "unsure"}}'

UNREAD = "a reply without a verdict is asked about again, and where most samples stay without one nothing is decided"
CONTRADICTION = "verdicts that contradict each other are none, while the first one counts there"
PLACE = "a yes within a line of prose is none"
LAST = "words after a yes may take it back"
PLAIN = "a word that can only mean no is one"
NOTHING_READ = {"turns": [None], "overall": None}


def match(name, *replies, actual=None, **more):
    """A case of one question, or of one question a turn."""
    replies = [list(of_turn) for of_turn in replies] if isinstance(replies[0], (list, tuple)) else [list(replies)]
    actual = actual or turns(len(replies))
    expected = more.pop("expected", turns(len(actual), answer="It is in Paris."))
    return case(name, replies, actual, expected, samples=len(replies[0]), **more)


FINAL_RESPONSE_MATCH = [
    match("valid", VALID),
    match("invalid", INVALID),
    *(match(f"label {label}", f"{{{KEY}: {label}}}") for label in (
        "valid", "true", '["valid"]', '[ "valid" ]', '""valid""', "invalid", '"almost"', '"partially_valid"',
        '"partially"', "false", '"false"', '"true"', '"valid",',
    )),
    match("in a fence", f"```json\n{VALID}\n```"),
    match("pretty", f'{{\n  "reasoning": "r",\n  {KEY}: [\n    "valid"\n  ]\n}}'),
    match("no brace after a line break", f'{KEY}: "valid"\nThat is all.', difference=LAST, here=NOTHING_READ),
    match("no brace after a line break, invalid", f'{KEY}: "invalid"\nThat is all.'),
    match("key first", f'{{{KEY}: "valid", "reasoning": "r"}}'),
    match("no blank", f'{{{KEY}:"invalid"}}'),
    match("the other key: true", f"{{{OTHER}: true}}"),
    match("the other key: invalid", f'{{{OTHER}: "invalid"}}'),
    match("the other key: false", f"{{{OTHER}: false}}"),
    match("the other key: valid", f'{{{OTHER}: "valid"}}'),
    match("both keys", f'{{{OTHER}: true, {KEY}: "valid"}}', difference=CONTRADICTION, here=NOTHING_READ),
    match("both keys say the same", f'{{{OTHER}: false, {KEY}: "valid"}}'),
    match("3 of 5 valid", VALID, INVALID, VALID, INVALID, VALID),
    match("2 of 5 valid", VALID, INVALID, INVALID, INVALID, VALID),
    match("a tie", VALID, INVALID, INVALID, VALID),
    match("one of each and one unsure", VALID, INVALID, UNSURE),
    match("two valid and one unsure", VALID, UNSURE, VALID),
    match("two invalid and one empty", INVALID, None, INVALID),
    match("three turns", [VALID], [INVALID], [INVALID]),
    match("three turns with votes", [VALID] * 3, [INVALID, VALID, VALID], [INVALID, VALID, INVALID]),
    match("seven turns", *([VALID if n % 3 else INVALID] for n in range(7))),
    match("said on the way", VALID, actual=[turn(said="Let me see.")],
          criterion={"include_intermediate_responses_in_final": True}),
    match("capital", f'{{{KEY}: "Valid"}}'),
    match("two words", f'{{{KEY}: "partially valid"}}', difference=PLAIN, here={"turns": [0.0], "overall": 0.0}),
    match("no closing brace", f'{{{KEY}: "valid"'),
    match("a blank before the colon", f'{{{KEY} : "valid"}}'),
    match("prose", "The answer is valid."),
    match("an empty reply", None),
    match("one valid and two unsure", VALID, UNSURE, UNSURE, difference=UNREAD, here=NOTHING_READ),
    match("the other key: no verdict", f'{{{OTHER}: "foo"}}', here=NOTHING_READ,
          difference="a word that is no verdict is not valid"),
    match("two verdicts", f"The agent wrote {VALID} itself.\n{INVALID}", difference=CONTRADICTION, here=NOTHING_READ),
    match("a note on another verdict", f"{INVALID}\nThe agent wrote {VALID} itself."),
    match("words around a no", f"Sure! {INVALID} bye"),
    match("three of five say no, with words around", VALID, VALID, *[f"Sure! {INVALID} bye"] * 3),
    match("taken back", f"{VALID}\nWait, the city is another one: invalid.", difference=LAST, here=NOTHING_READ),
    match("two of five valid, one not, two unsure", VALID, VALID, INVALID, UNSURE, UNSURE, here=NOTHING_READ,
          difference="a yes needs more than half of all samples"),
    match("words before it", f"They differ in the city.\n\n{INVALID}"),
    match("words after it", f"{VALID}\n\nBoth name Paris.", difference=LAST, here=NOTHING_READ),
    match("words after a no", f"{INVALID}\n\nOne names Paris."),
    match("a quotation", f"The agent wrote {VALID} itself.", difference=PLACE, here=NOTHING_READ),
    match("one of three samples fails", VALID, error(), VALID, here={"turns": [1.0], "overall": 1.0},
          difference="one sample that fails does not void the turn"),
    match("two of three samples fail", VALID, error(), error(), here={"error": "no connection"},
          difference="where most samples fail, that is an error"),
    match("one of two turns has no reference", [VALID], [VALID], here={"turns": [1.0, None], "overall": 1.0},
          expected=[turn(user="Where is order 0?"), turn(user="Where is order 1?", answer=None)],
          difference="a turn without a reference is not judged"),
]

# Rubrics

TEXTS = {
    "kind": "The answer is kind.",
    "brief": "The answer isn’t long — one “sentence”.",
    "place": "The answer names a place.",
    "tracks": "The agent looks the order up.",
}


def rubric(id, kind=None):
    made = {"rubric_id": id, "rubric_content": {"text_property": TEXTS[id]}}
    return {**made, "type": kind} if kind else made


def rubrics(*ids, kind=None):
    return [rubric(id, kind) for id in ids]


def block(id, verdict, property=None, rationale="because", with_id=True):
    head = f"ID: {id}\n" if with_id else ""
    property = TEXTS.get(id, id) if property is None else property
    return f"{head}Property: {property}\nEvidence: none\nRationale: {rationale}\nVerdict: {verdict}\n"


def said(**verdicts):
    return "\n".join(block(id, verdict) for id, verdict in verdicts.items())


def by(ids, *replies, **more):
    """A case whose criterion has these rubrics; `replies` as in `match`."""
    replies = [list(of_turn) for of_turn in replies] if isinstance(replies[0], (list, tuple)) else [list(replies)]
    criterion = {"rubrics": rubrics(*ids), **more.pop("criterion", {})}
    actual = more.pop("actual", None) or turns(len(replies))
    return case(more.pop("name"), replies, actual, criterion=criterion, samples=len(replies[0]), **more)


def one(name, reply, **more):
    """A reply about one rubric."""
    return by(["kind"], reply, name=name, **more)


NO_VERDICT = {"turns": [None], "overall": None}
SKIPPED = "a rubric that the judge passes over is asked about again and, without a verdict, leaves the turn unscored"
WORDS = "only the words yes and no are verdicts"
LOST = "the verdicts of earlier turns are kept where turns have rubrics of their own"
FINAL = "FINAL_RESPONSE_QUALITY"

FINAL_RESPONSE_QUALITY = [
    one("yes", said(kind="yes")),
    one("no", said(kind="no")),
    *(one(f"verdict {verdict}", said(kind=verdict)) for verdict in ("Yes", "NO", "[yes]", "no.", "**yes**", "yes, it is")),
    by(["kind", "brief", "place"], said(kind="yes", brief="no", place="yes"), name="two of three"),
    by(["kind", "brief", "place"], said(place="no", kind="yes", brief="no"), name="in another order"),
    by(["kind", "brief"], said(kind="no", brief="no"), name="none met"),
    one("by text", block("kind", "yes", with_id=False)),
    one("by decorated text", block("kind", "yes", property="**The answer is  KIND.**", with_id=False)),
    by(["brief"], block("brief", "yes", property='"The answer isn\'t long - one "sentence"."', with_id=False),
       name="by text in plain typography"),
    one("an id that nobody knows", block("7", "yes", property=TEXTS["kind"])),
    one("an id with another text", block("kind", "no", property="Something else.")),
    one("a property that nobody asked about", said(kind="yes", place="no")),
    one("prose around it", "Here is my verdict.\n\n" + said(kind="no") + "\nI hope this helps."),
    one("indented", "   " + said(kind="yes").replace("\n", "\n   ")),
    one("verdict on the rationale's line", "ID: kind\nProperty: x\nRationale: kind enough. Verdict: yes\n",
        difference=PLACE, here={"turns": [None], "overall": None, "rubrics": [{"kind": None}]}),
    by(["kind", "brief"], "ID: kind\nID: brief\n" + block("", "yes", property="x", with_id=False) + said(kind="no"),
       name="the last of two ids"),
    by(["kind", "brief"], said(kind="yes", brief="no"), said(kind="yes", brief="yes"), said(kind="no", brief="yes"),
       name="samples vote rubric by rubric"),
    by(["kind", "brief"], said(kind="yes", brief="no"), said(kind="no", brief="yes"), name="ties"),
    by(["kind", "brief", "place"], *([said(kind="yes", brief="yes" if n else "no", place="no")] for n in range(3)),
       name="three turns"),
    one("a sample that says nothing", said(kind="yes"), actual=[turn(said="One moment.")],
        criterion={"include_intermediate_responses_in_final": True}),
    by(["kind"], said(kind="yes"), said(kind="maybe"), said(kind="yes"), name="one of three without a verdict"),
    by(["kind"], said(kind="no"), "I cannot tell.", said(kind="no"), name="one of three unreadable"),
    by(["kind"], said(kind="yes"), None, said(kind="yes"), name="one of three empty"),
    by(["kind"], said(kind="yes", place="yes"), name="rubrics of a turn",
       actual=[turn(rubrics=rubrics("place", kind=FINAL))]),
    by(["kind"], said(kind="yes"), name="rubrics of another type",
       actual=[turn(rubrics=rubrics("tracks", kind="TOOL_USE_QUALITY"))]),
    by(["kind"], [said(kind="yes")], [said(kind="no")], name="calls",
       actual=turns(2, calls=[("track", {"order": 7}, {"at": "Paris"})])),
    by(["kind", "place"], [said(kind="yes", place="yes")], [said(kind="no", place="yes")], name="the same rubrics in all turns",
       actual=turns(2)),
    by([], [said(kind="no")], [said(place="yes")], name="rubrics of each turn", difference=LOST,
       actual=[turn("a", rubrics=rubrics("kind", kind=FINAL)), turn("b", rubrics=rubrics("place", kind=FINAL))],
       here={"turns": [0.0, 1.0], "overall": 0.5, "rubrics": [{"kind": 0.0}, {"place": 1.0}]}),
    by(["kind", "place"], said(kind="yes"), name="a rubric that is passed over", difference=SKIPPED,
       here={**NO_VERDICT, "rubrics": [{"kind": 1.0, "place": None}]}),
    by(["kind"], "I cannot tell.", name="nothing to read", difference=SKIPPED,
       here={**NO_VERDICT, "rubrics": [{"kind": None}]}),
    by(["kind"], said(kind="yes"), said(kind="maybe"), said(kind="maybe"), name="two of three without a verdict",
       difference=SKIPPED, here={**NO_VERDICT, "rubrics": [{"kind": None}]}),
    one("unknown", said(kind="unknown")),
    one("not applicable", said(kind="not applicable")),
    one("taken back", said(kind="yes") + "\nWait, it is rude.", difference=LAST,
        here={**NO_VERDICT, "rubrics": [{"kind": None}]}),
    one("words after a no", said(kind="no") + "\nAll in all it is rude."),
    one("No, eyes", said(kind="No, eyes"), difference=WORDS,
        here={"turns": [0.0], "overall": 0.0, "rubrics": [{"kind": 0.0}]}),
    one("a rationale that speaks of verdicts", block("kind", "no", rationale='it says "Verdict: yes"'),
        difference=SKIPPED, here={"turns": [None], "overall": None, "rubrics": [{"kind": None}]}),
    one("a rationale that speaks of the same verdict", block("kind", "no", rationale='it says "Verdict: no"'),
        difference="a rationale that speaks of verdicts does not void the sample if it does not contradict",
        here={"turns": [0.0], "overall": 0.0, "rubrics": [{"kind": 0.0}]}),
    by(["kind"], said(kind="yes") + said(kind="no"), said(kind="no") + said(kind="yes"),
       name="two verdicts in each sample", actual=turns(1)),
    by(["kind"], said(kind="no") * 3, said(kind="yes"), said(kind="yes"), name="a no that counts three times"),
    by(["kind"], said(kind="yes"), error(), said(kind="yes"), name="one of three samples fails",
       difference="one sample that fails does not void the turn",
       here={"turns": [1.0], "overall": 1.0, "rubrics": [{"kind": 1.0}]}),
    by(["kind", "place"], said(kind="yes", place="no"), name="weights", criterion={"weights": {"kind": 3}},
       difference="`weights` weighs the mean", here={"turns": [0.75], "overall": 0.75,
                                                      "rubrics": [{"kind": 1.0, "place": 0.0}]}),
    by([], said(kind="yes"), name="no rubrics", difference="metrics that cannot run are errors",
       here={"error": "there are no rubrics"}),
]

CALLS = [("track", {"order": 7}, {"at": "Paris"})]

TOOL_USE_QUALITY = [
    by(["tracks"], said(tracks="yes"), name="yes", actual=[turn(calls=CALLS)]),
    by(["tracks"], said(tracks="no"), name="no calls"),
    by(["tracks", "place"], said(tracks="yes", place="no"), said(tracks="yes", place="yes"),
       said(tracks="no", place="no"), name="votes", actual=[turn(calls=CALLS * 2)]),
    by(["tracks"], [said(tracks="yes")], [said(tracks="no")], [said(tracks="no")], name="three turns",
       actual=turns(3, calls=CALLS)),
    by(["kind"], said(kind="no", tracks="yes"), name="rubrics of a turn",
       actual=[turn(rubrics=rubrics("tracks", kind="TOOL_USE_QUALITY"))]),
    by([], [said(tracks="yes")], [said(place="no")], name="rubrics of each turn", difference=LOST,
       actual=[turn("a", rubrics=rubrics("tracks", kind="TOOL_USE_QUALITY")),
               turn("b", rubrics=rubrics("place", kind="TOOL_USE_QUALITY"))],
       here={"turns": [1.0, 0.0], "overall": 0.5, "rubrics": [{"tracks": 1.0}, {"place": 0.0}]}),
]

TRAJECTORY = "TRAJECTORY_QUALITY"

MULTI_TURN_TRAJECTORY = [
    by(["tracks"], said(tracks="yes"), name="one turn", actual=[turn(calls=CALLS)]),
    by(["tracks", "kind"], said(tracks="yes", kind="no"), name="three turns", actual=turns(3, calls=CALLS)),
    by(["tracks", "kind", "place"], said(tracks="yes", kind="no", place="no"), name="a third", actual=turns(2)),
    by(["tracks"], said(tracks="yes"), said(tracks="no"), said(tracks="no"), name="votes", actual=turns(2)),
    by(["tracks"], said(tracks="yes"), said(tracks="no"), name="a tie", actual=turns(2)),
    by(["kind"], said(kind="yes", tracks="no"), name="rubrics of the last turn",
       actual=[turn("a"), turn("b", rubrics=rubrics("tracks", kind=TRAJECTORY))]),
    by(["kind"], said(kind="yes"), name="said on the way", actual=turns(2, said="One moment.")),
    by(["kind"], said(kind="yes"), error(), said(kind="yes"), name="one of three samples fails", actual=turns(2),
       difference="one sample that fails does not void the turn",
       here={"turns": [None, 1.0], "overall": 1.0, "rubrics": [None, {"kind": 1.0}]}),
    by(["kind", "place"], said(kind="no"), name="a rubric that is passed over", actual=turns(2), difference=SKIPPED,
       here={"turns": [None, None], "overall": None, "rubrics": [None, {"kind": 0.0, "place": None}]}),
]

METRICS = {
    "final_response_match_v2": FINAL_RESPONSE_MATCH,
    "rubric_based_final_response_quality_v1": FINAL_RESPONSE_QUALITY,
    "rubric_based_tool_use_quality_v1": TOOL_USE_QUALITY,
    "rubric_based_multi_turn_trajectory_quality_v1": MULTI_TURN_TRAJECTORY,
}
