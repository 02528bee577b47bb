#!/usr/bin/env python3
"""What a case takes against a server that answers at once.

    benches/server_case.py [--cases 1000] [--rounds 5]

`cargo evalset run`, built with optimisation, one case at a time: a session, a turn with a tool call, the state, the end of the session,
the journal, both default metrics. Of many cases and of a tenth of them: the difference does not count what a run takes once. The time
of the stub on the clock is in it.
"""

import argparse

import measure
import server


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    report = measure.Report("a case against a server that answers at once")
    evalset = server.program()
    many, few = options.cases, max(options.cases // 10, 1)
    with server.stub() as url:
        folders = {count: server.folder(f"server_case_{count}", count) for count in (many, few)}

        def side(count):
            return lambda: server.run(evalset, folders[count], "--agent-url", url, "--concurrency", 1)

        found = measure.alternate({str(count): side(count) for count in (many, few)}, options.rounds)
    for kind, what in (("wall", "on the clock"), ("cpu", "CPU")):
        seconds = {count: measure.median([getattr(cost, kind) for cost in found[str(count)]]) for count in (many, few)}
        a_case = (seconds[many] - seconds[few]) / (many - few)
        report.note(f"{what}: {measure.in_ms(a_case)} a case, {seconds[few] - a_case * few:.2f} s a run")
        report.at_most(f"{what}, of 2 ms", a_case / 0.002, 1.0)
    report.end()


main()
