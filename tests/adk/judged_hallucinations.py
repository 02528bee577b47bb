"""Cases for `hallucinations_v1`; see `judged_cases.py`.

Each text takes two questions: for its sentences, and for the label of each. Texts differ from turn to turn, so that
questions do.
"""

from judged_cases import case, error, turn

YES, NO, CONTRA, DISPUTED, NEUTRAL = "supported", "unsupported", "contradictory", "disputed", "not_applicable"


def sentences(*texts):
    return "\n".join(f"<sentence>{text}</sentence>" for text in texts)


def block(text, label, why="because", excerpts=("null", "null")):
    return (
        f"sentence: {text}\nlabel: {label}\nrationale: {why}\n"
        f"supporting_excerpt: {excerpts[0]}\ncontradicting_excerpt: {excerpts[1]}"
    )


def labels(*pairs, **more):
    return "\n\n".join(block(text, label, **more) for text, label in pairs)


def judged(*pairs):
    """The two replies about a text of these sentences."""
    return [sentences(*(text for text, _ in pairs)), labels(*pairs)]


def said(*answers, on_the_way=(), **more):
    """Turns with these answers; `on_the_way` holds the parts of the events before the answer of the first."""
    turns = [turn(user=f"Where is order {n}?", answer=answer, **more) for n, answer in enumerate(answers)]
    events = [{"author": "clerk", "content": {"role": "model", "parts": parts}} for parts in on_the_way]
    if events:
        turns[0]["intermediate_data"] = {"invocation_events": events}
    return turns


def texts(name, actual, *replies, **more):
    """A case of these turns; a reply for each question."""
    return case(name, [[reply] for reply in replies], actual, **more)


def one(name, answer, *pairs, **more):
    """A case of one answer, split into sentences that are labelled in this way."""
    return texts(name, said(answer), *judged(*pairs), **more)


def of_ten(turn, grounded):
    """An answer of ten sentences, and the two replies that find some of them grounded."""
    pairs = [(f"Order {turn}{n}.", YES if n < grounded else NO) for n in range(10)]
    return " ".join(text for text, _ in pairs), judged(*pairs)


def shares(*grounded):
    made = [of_ten(turn, share) for turn, share in enumerate(grounded)]
    return said(*(answer for answer, _ in made)), [reply for _, replies in made for reply in replies]


TEN, TEN_REPLIES = shares(1, 2, 3)
SEVEN, SEVEN_REPLIES = shares(0, 10, 7, 7, 7, 9, 1)
CALL = {"function_call": {"name": "track", "args": {"order": 7}}}
RESPONSE = {"function_response": {"name": "track", "response": {"at": "Paris"}}}
ON_THE_WAY = [[{"text": "One moment."}], [CALL], [RESPONSE], [{"text": "Found it."}, {"text": "It was easy."}]]
INTERMEDIATE = {"evaluate_intermediate_nl_responses": True}
PARIS, EARLY = "It is in Paris.", "It came early."
BOTH = f"{PARIS} {EARLY}"

UNSCORED = {"turns": [None], "overall": None}
LEFT_OUT = "a reply that leaves sentences out, or has them twice, is asked for again and then leaves the turn unscored"
NO_LABEL = "a label that is none is asked for again and then leaves the turn unscored"
NOT_THE_TEXT = "sentences that are not the text are asked for again and then leave the turn unscored"
LOST_TEXT = "a text that could not be judged leaves the turn unscored, instead of being left out"
FAILED = "a call that fails is an error, instead of a text left out"
THOUGHTS = "thoughts are not judged as part of the answer"

HALLUCINATIONS = [
    one("all supported", BOTH, (PARIS, YES), (EARLY, YES)),
    one("half", BOTH, (PARIS, YES), (EARLY, NO)),
    one("each label", "a. b. c. d. e.", ("a.", YES), ("b.", NO), ("c.", CONTRA), ("d.", DISPUTED), ("e.", NEUTRAL)),
    one("labels in capitals", "a. b. c.", ("a.", "Supported"), ("b.", "UNSUPPORTED"), ("c.", "Not_Applicable")),
    one("a greeting", "Hello!", ("Hello!", NEUTRAL)),
    one("nothing grounded", BOTH, (PARIS, CONTRA), (EARLY, NO)),
    one("a third", "a. b. c.", ("a.", NO), ("b.", YES), ("c.", DISPUTED)),
    one("one sentence over two lines", "It is in\nParis.", ("It is in\nParis.", YES)),
    one("the same sentence twice", "Yes. Yes.", ("Yes.", YES), ("Yes.", NO)),
    one("no blanks between words", "東京です。早いです。", ("東京です。", YES), ("早いです。", NO)),
    one("a table", "| a | b |\n|---|---|\n| 1 | 2 |\n\nDone.", ("| a | b |\n|---|---|\n| 1 | 2 |", NO), ("Done.", NEUTRAL)),
    one("items without their numbers", "Two places:\n1. Paris\n2. Rome", ("Two places:", NEUTRAL), ("Paris", YES),
        ("Rome", CONTRA)),
    texts("sentences that the verdict does not copy exactly", said(BOTH), sentences(PARIS, EARLY),
          labels(("it is in paris", YES), ('"It came early"', NO))),
    texts("names of lines in capitals", said(BOTH), sentences(PARIS, EARLY),
          labels((PARIS, YES), (EARLY, NO)).replace("label:", "Label:").replace("sentence:", "SENTENCE:")),
    texts("words around it", said(BOTH), "Here you are:\n" + sentences(PARIS, EARLY) + "\nDone.",
          "Let me see.\n\n" + labels((PARIS, YES), (EARLY, NO)) + "\n\nThat is all."),
    texts("values of several lines", said(BOTH), sentences(PARIS, EARLY),
          labels((PARIS, YES), (EARLY, NO), why="because of this,\n\nand of that")),
    texts("excerpts", said(BOTH), sentences(PARIS, EARLY),
          labels((PARIS, YES), (EARLY, DISPUTED), excerpts=("at: Paris", "Rome,\nor so"))),
    texts("no lines between the blocks", said(BOTH), sentences(PARIS, EARLY),
          labels((PARIS, YES), (EARLY, NO)).replace("\n\n", "\n")),
    texts("line ends of Windows", said(BOTH), sentences(PARIS, EARLY).replace("\n", "\r\n"),
          labels((PARIS, YES), (EARLY, NO)).replace("\n", "\r\n")),
    texts("a blank sentence", said(BOTH), sentences(PARIS, " ", EARLY), labels((PARIS, YES), (EARLY, NO))),
    texts("three turns, averaged exactly", TEN, *TEN_REPLIES),
    texts("seven turns, averaged exactly", SEVEN, *SEVEN_REPLIES),
    texts("more samples are not asked for", said(PARIS), *judged((PARIS, YES)), samples=3),
    texts("texts on the way are left alone", said(PARIS, on_the_way=ON_THE_WAY), *judged((PARIS, YES))),
    texts("texts on the way", said(PARIS, on_the_way=ON_THE_WAY), *judged(("One moment.", NEUTRAL)),
          *judged(("Found it.", NO)), *judged(("It was easy.", NO)), *judged((PARIS, YES)), criterion=INTERMEDIATE),
    texts("the mean of means", said("a. b. c.", on_the_way=[[{"text": "d."}], [{"text": "e."}]]), *judged(("d.", YES)),
          *judged(("e.", NO)), *judged(("a.", YES), ("b.", YES), ("c.", NO)), criterion=INTERMEDIATE),
    texts("a turn without an answer", said(PARIS, None), *judged((PARIS, YES))),
    texts("an empty reply", said(PARIS), sentences(PARIS), None),
    texts("one of three is judged", said("a. b. c."), sentences("a.", "b.", "c."), labels(("a.", YES)),
          difference=LEFT_OUT, here=UNSCORED),
    texts("one is judged twice", said("a. b."), sentences("a.", "b."), labels(("a.", YES), ("a.", YES)),
          difference=LEFT_OUT, here=UNSCORED),
    texts("one is judged that was not asked about", said("a."), sentences("a."), labels(("a.", YES), ("b.", YES)),
          difference=LEFT_OUT, here=UNSCORED),
    texts("a line is missing", said("a. b."), sentences("a.", "b."),
          labels(("a.", YES)) + "\n\n" + block("b.", NO).replace("rationale: because\n", ""),
          difference=LEFT_OUT, here=UNSCORED),
    one("a label in back-ticks", BOTH, (PARIS, YES), (EARLY, "`unsupported`"), difference=NO_LABEL, here=UNSCORED),
    one("a label that nobody asked for", BOTH, (PARIS, YES), (EARLY, "false"), difference=NO_LABEL, here=UNSCORED),
    one("a sentence is not split off", BOTH, (PARIS, YES), difference=NOT_THE_TEXT, here=UNSCORED),
    one("a sentence that was not said", PARIS, (PARIS, NO), ("Hello!", NEUTRAL), difference=NOT_THE_TEXT,
        here=UNSCORED),
    one("another text", PARIS, ("It is in Rome.", NO), difference=NOT_THE_TEXT, here=UNSCORED),
    texts("a text on the way is not split", said(PARIS, on_the_way=[[{"text": "One moment."}]]), "I cannot do that.",
          *judged((PARIS, YES)), criterion=INTERMEDIATE, difference=LOST_TEXT, here=UNSCORED),
    texts("a call fails", said("a.", "b."), sentences("a."), error(), *judged(("b.", YES)), difference=FAILED,
          here={"error": "no connection"}),
    texts("a thought in the answer", [{
        **turn(), "final_response": {"parts": [{"text": "Rome?", "thought": True}, {"text": PARIS}]},
    }], sentences("Rome?", PARIS), labels(("Rome?", NO), (PARIS, YES)), difference=THOUGHTS, here=UNSCORED),
]
