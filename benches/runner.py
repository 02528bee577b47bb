#!/usr/bin/env python3
"""Running and scoring a case with the two lexical metrics, against google-adk's AgentEvaluator.

    benches/runner.py [--cases 200] [--rounds 5]

Both sides run the same agent over the same set of two turns a case within one process; starting up and
reading the file do not count. This side is built with optimisation; what it takes as `cargo test` builds it,
without, is printed beside it. The agent answers to the letter; a second set expects one word more, so that
this side, too, has to compare word by word.
"""

import argparse

import cases
import measure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    report = measure.Report("runner and lexical metrics, per case")

    to_the_letter = cases.eval_set(options.cases, turns=2)
    one_word_more = cases.eval_set(options.cases, turns=2)
    for case in one_word_more["eval_cases"]:
        for turn in case["conversation"]:
            turn["final_response"]["parts"][0]["text"] += " Thanks."
    adk = [measure.adk_python(), measure.BENCHES / "adk/evaluate.py"]
    programs = {"as tests are built": measure.built("speed", "runner"), "optimised": measure.speed("runner")}
    sides = {}
    for words, eval_set in (("to the letter", to_the_letter), ("one word more", one_word_more)):
        path = measure.TARGET / f"runner {words}.evalset.json".replace(" ", "_")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(cases.as_json(eval_set))
        for name, program in programs.items():
            sides[name, words] = lambda program=program, path=path: measure.ask([program, path, 5])["eval-core"]
        # The first evaluation of a process also imports what it needs.
        sides["google-adk", words] = lambda path=path: measure.ask([*adk, path, "--inner", "2"], measure.BENCHES / "adk")[1:]
    found = measure.alternate(sides, options.rounds)
    a_case = {side: measure.median(sum(rounds, [])) / options.cases for side, rounds in found.items()}
    for (name, words), seconds in a_case.items():
        report.note(f"{name}, {words}: {measure.in_us(seconds)} a case")
    ratio = lambda name, words: a_case["google-adk", words] / a_case[name, words]
    report.note(f"optimised, one word more, google-adk / eval-core: {ratio('optimised', 'one word more'):.1f}")
    report.note(f"as tests are built, one word more, google-adk / eval-core: {ratio('as tests are built', 'one word more'):.1f}")
    report.at_least("as tests are built, google-adk / eval-core", ratio("as tests are built", "to the letter"), 20)
    report.at_least("google-adk / eval-core", ratio("optimised", "to the letter"), 100)
    report.end()


main()
