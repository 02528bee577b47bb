#!/usr/bin/env python3
"""Compares judged metrics with google-adk's on random replies, most of them malformed.

    tests/adk/judged_replies.py PYTHON [--cases 3000] [--seed N]

PYTHON is a Python that has google-adk; see `compare.py`. Both sides get the same turns and a judge that replies from the same
script. The test `random_replies_pass_nothing_that_adk_fails` of eval-core then holds: nothing passes that google-adk does not pass, each
score is google-adk's or one of the differences that `docs/differences.md` explains, and it prints how many of each.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from judged_cases import KEY, OTHER, TEXTS, block, case, turn, turns
from judged_hallucinations import block as sentence_block
from judged_simulated_user import messages

HERE = pathlib.Path(__file__).parent
WORKSPACE = HERE.parent.parent

BEFORE = ["Sure!\n", "Sure! ", "I compared both.\n\n", "The agent wrote it itself.\n", "> ", "- ", "1. ", "**Verdict**\n", "`"]
AFTER = ["\nDone.", " bye", "\n\nBoth name Paris.", "\nWait, that is wrong: the answer is invalid.", "\nいいえ。", "`", ".",
         "\n\n---", "\nOn second thought, no.", ' (not {"a": "valid"})']
FENCES = ["```json\n%s\n```", "```\n%s\n```", "```json %s```", "~~~\n%s\n~~~", "````\n%s\n````"]


class Replies:
    """Random replies of a judge."""

    def __init__(self, seed):
        self.random = random.Random(seed)

        self.oddity = 1.0

    def chance(self, share):
        return self.random.random() < share

    def odd(self, share):
        """Whether something is odd here; half of the cases are mild."""
        return self.chance(share * self.oddity)

    def pick(self, items):
        return self.random.choice(list(items))

    def wrapped(self, text):
        """A text with fences and words around it, or cut off."""
        if self.odd(0.25):
            text = self.pick(FENCES) % text
        if self.odd(0.25):
            text = self.pick(BEFORE) + text
        if self.odd(0.25):
            text += self.pick(AFTER)
        if self.odd(0.05):
            text = text[: self.random.randrange(len(text) + 1)]
        return text

    def label(self, words):
        word = self.pick(words)
        odd = ['"%s"', '"%s"', "%s", '["%s"]', '[ "%s" ]', '""%s""', '"%s",', "**%s**", '"%s."', "'%s'", "\n%s\n", '"%s']
        return (self.pick(odd) if self.odd(1) else '"%s"') % word

    def object(self, keys, words):
        key = self.pick(keys)
        colon = ": " if not self.odd(1) else self.pick([": ", ":", ": ", ": ", " : ", " = ", ":\n"])
        entry = key + colon + self.label(words)
        entries = [entry]
        if self.chance(0.7):
            entries.insert(self.pick([0, 1]), '"reasoning": "r"')
        if self.odd(0.08):
            entries.insert(self.pick([0, 1]), f'"quoted": {{{self.pick(keys)}: {self.label(words)}}}')
        if self.odd(0.08):
            entries.append(f"{self.pick(keys)}: {self.label(words)}")
        if self.odd(0.08):
            entries.append("oops")
        text = ", ".join(entries)
        odd = ["{%s}", "{%s}", "{%s}", "{\n  %s\n}", "{%s,}", "%s", "[{%s}]", "{%s", "%s\n"]
        return (self.pick(odd) if self.odd(1) else "{%s}") % text

    def verdict(self, keys, words):
        """A reply with one verdict, with several, or with none."""
        if self.odd(0.06):
            return self.pick([None, "", "I cannot tell.", "valid", "{}", "[]", "null"])
        parts = [self.wrapped(self.object(keys, words))]
        while self.odd(0.2):
            parts.append(self.wrapped(self.object(keys, words)))
        return self.pick(["\n", " ", "\n\n", ", "]).join(parts)

    def rubrics(self, ids, may_repeat):
        """A reply with blocks about rubrics. A no that counts twice in google-adk stands in the first sample only: those after
        it that cannot change the outcome are not asked."""
        if self.odd(0.05):
            return self.pick([None, "", "I cannot tell.", "Verdict: yes", "yes"])
        blocks = []
        for rubric in ids:
            while True:
                if self.chance(0.93):
                    blocks.append(self.block(rubric))
                if not may_repeat or not self.odd(0.1):
                    break
        self.random.shuffle(blocks)
        text = self.pick(["\n", "\n\n", "\n---\n", "\n\n## Rubric 2\n", "\n2.\n"]).join(blocks)
        return self.wrapped(text) if text else text

    def block(self, rubric):
        said = self.pick(["yes", "yes", "yes", "no", "no", "Yes.", "NO", "[yes]", "**no**", "unknown", "maybe",
                          "No, eyes", "n/a", "", "yes, but no", "neither yes nor no", "not met"])
        why = self.pick(["r", "r", "r", 'it says "Verdict: yes"', "so: Verdict: no", "Rationale: twice", "the verdict: no", ""])
        text = block(rubric, said, rationale=why, with_id=self.chance(0.8))
        for share, old, new in [
            (0.03, "Verdict: ", self.pick(["**Verdict:** ", "Verdict:", "verdict: ", "Verdict : ", "> Verdict: "])),
            (0.03, "Rationale: ", self.pick(["Rationale:", "Reason: ", "rationale: "])),
            (0.03, "Property: ", self.pick(["Property:", "property: ", "- Property: "])),
            (0.03, "ID: ", self.pick(["ID:", "id: ", "Id: ", "* ID: "])),
            (0.05, "\n", self.pick(["\n\n", "\r\n", "\n  "])),
        ]:
            if self.odd(share):
                text = text.replace(old, new)
        if self.odd(0.1):
            text += self.pick(["\nWait, it is rude.", "\n(All in all.)", "\nVerdict: no", "\nVerdict: yes", "\nRationale: more"])
        return text

    def labels(self, sentences):
        """A reply with a label for each sentence."""
        words = ["supported"] * 4 + ["unsupported", "contradictory", "disputed", "not_applicable", "Supported", "false"]
        blocks = [sentence_block(sentence, self.pick(words)) for sentence in sentences if self.chance(0.97)]
        if blocks and self.odd(0.1):
            blocks.append(self.pick(blocks))
        text = self.pick(["\n\n", "\n"]).join(blocks)
        for share, old, new in [
            (0.05, "label:", self.pick(["Label:", "**label:**", "the label:"])),
            (0.05, "sentence:", self.pick(["SENTENCE:", "- sentence:", "The sentence:"])),
            (0.05, "because", self.pick(["", "label: supported", "see sentence: 1\nlabel: unsupported"])),
            (0.05, "null", "x\nlabel: unsupported\nrationale: y\nsupporting_excerpt: z\ncontradicting_excerpt: w"),
        ]:
            if self.odd(share):
                text = text.replace(old, new, self.pick([1, 9]))
        return self.wrapped(text) if text else text

    def samples(self, reply):
        return [reply(sample) for sample in range(self.pick([1, 2, 3, 3, 4, 5, 5]))]

    def final_response_match(self):
        words = ["valid"] * 4 + ["invalid"] * 3 + ["true", "false", "almost", "partially_valid", "partially valid"]
        words += ["Valid", "no", "unsure", ""]
        one = self.samples(lambda _: self.verdict([KEY] * 5 + [OTHER], words))
        return case("random", [one], turns(1), turns(1, answer="It is in Paris."), samples=len(one))

    def simulated_user(self):
        words = ["true"] * 4 + ["false"] * 3 + ["valid", "invalid", "True", "almost", "Partially Valid", "no", "unsure", ""]
        about = self.samples(lambda _: self.verdict(['"is_valid"'], words))
        return messages("random", [self.verdict(['"is_valid"'], words) for _ in about], about)

    def rubric_quality(self):
        ids = self.pick([["kind"], ["kind", "brief"], ["kind", "brief", "place"]])
        one = self.samples(lambda sample: self.rubrics(ids, sample == 0))
        rubrics = [{"rubric_id": key, "rubric_content": {"text_property": TEXTS[key]}} for key in ids]
        return case("random", [one], turns(1), turns(1), criterion={"rubrics": rubrics}, samples=len(one))

    def hallucinations(self):
        sentences = self.pick([["It is in Paris."], ["It is in Paris.", "It came early."], ["a.", "b.", "c."]])
        split = "\n".join(f"<sentence>{sentence}</sentence>" for sentence in sentences)
        replies = [[self.wrapped(split)], [self.labels(sentences)]]
        return case("random", replies, [turn(answer=" ".join(sentences))])


def main():
    parser = argparse.ArgumentParser(description="Compares judged metrics with google-adk's on random replies.")
    parser.add_argument("python", help="a Python that has google-adk")
    parser.add_argument("--cases", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    options = parser.parse_args()
    print(f"seed {options.seed}")

    replies = Replies(options.seed)
    kinds = {
        "final_response_match_v2": replies.final_response_match,
        "rubric_based_final_response_quality_v1": replies.rubric_quality,
        "hallucinations_v1": replies.hallucinations,
        "per_turn_user_simulator_quality_v1": replies.simulated_user,
    }
    def made(metric):
        replies.oddity = replies.pick([0.1, 1.0])
        return kinds[metric]()

    metrics = [list(kinds)[at % len(kinds)] for at in range(options.cases)]
    lines = [json.dumps({"kind": "judged", "input": {"metric": metric, **made(metric)}}) for metric in metrics]
    run = subprocess.run(
        [options.python, HERE / "oracle.py"], input="\n".join(lines), text=True, stdout=subprocess.PIPE, check=True,
        stderr=subprocess.DEVNULL,
    )
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(run.stdout)
        file.flush()
        test = ["cargo", "test", "--quiet", "-p", "eval-core", "--features", "judges", "--lib"]
        test += ["metric::tests::judged_vectors::random", "--", "--nocapture"]
        run = subprocess.run(test, cwd=WORKSPACE, env={**os.environ, "EVALSET_ADK_JOBS": file.name}, check=False)
    sys.exit(run.returncode)


main()
