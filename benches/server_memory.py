#!/usr/bin/env python3
"""The memory of `cargo evalset run` with many cases.

    benches/server_memory.py [--cases 10000] [--padding 10000]

Against a server that answers at once, eight cases at a time, built with optimisation: a turn with a tool call for each case. Once with
short results of tools, once with results of `--padding` bytes. The peak is that of the program, whose report is part of it.
"""

import argparse

import measure
import server


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--padding", type=int, default=10_000)
    options = parser.parse_args()
    report = measure.Report(f"the memory of a run of {options.cases} cases")
    evalset = server.program()
    for padding in (0, options.padding):
        with server.stub(padding) as url:
            peaks = {}
            for count in (options.cases // 10, options.cases):
                folder = server.folder("server_memory", count)
                cost = server.run(evalset, folder, "--agent-url", url, "--concurrency", 8)
                peaks[count] = cost.peak
                report.note(
                    f"{count} cases, results of {padding} bytes: {cost.peak:.0f} MB, {cost.wall:.1f} s on the clock, {cost.cpu:.1f} CPU s"
                )
            kilobytes = (peaks[options.cases] - peaks[options.cases // 10]) / (options.cases * 0.9) * 1e3
            report.note(f"{kilobytes:.1f} kB more for a case, of {padding / 1e3:.1f} kB that its tool says")
            if padding == 0:
                report.at_most("memory, of 300 MB", peaks[options.cases] / 300, 1.0)
    report.end()


main()
