"""`python -m evalset MODULE:OBJECT`: an agent as a program."""

import os
import sys

from ._server import serve_named

USAGE = """usage: python -m evalset MODULE:OBJECT

Runs an agent as a program that speaks the protocol of `evalset run`: JSON lines on standard input and output.
MODULE is imported from the current folder or from the installed packages, and OBJECT is the agent in it."""


def main() -> int:
    arguments = sys.argv[1:]
    if arguments in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    # With `python -P` it is not there yet.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    serve_named(arguments[0])


sys.exit(main())
