"""Messages of the protocol, as lines of JSON on standard input and output."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any


class Lines:
    """The two ends of the protocol: lines that are read, and lines that are written whole."""

    def __init__(self, source: int, target: int) -> None:
        self.source = source
        self._target = target
        self._lock = threading.Lock()
        self._is_broken = False

    @classmethod
    def take_over(cls) -> Lines:
        """Keeps standard input and output for the protocol.

        What an agent prints goes to standard error, also from libraries in C and from its child processes. What it reads
        from standard input is empty.
        """
        lines = cls(os.dup(0), os.dup(1))
        os.dup2(2, 1)
        # What was printed before is still in the buffer, and now goes to standard error.
        sys.stdout.flush()
        sys.stdout = sys.stderr
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        return lines

    def write(self, message: Mapping[str, Any]) -> None:
        """Writes a message. Once the other side is gone, nothing is written any more."""
        rest = memoryview(json.dumps(message).encode() + b"\n")
        with self._lock:
            while rest and not self._is_broken:
                try:
                    rest = rest[os.write(self._target, rest) :]
                except BrokenPipeError:
                    self._is_broken = True

    def read(self) -> Iterator[dict[str, Any]]:
        """The messages, until the input ends."""
        with open(self.source, "rb") as source:
            for line in source:
                if line.strip():
                    yield json.loads(line)
