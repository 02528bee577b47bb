#!/usr/bin/env python3
"""The description of the service is valid, and its answers are as it says.

    openapi.py PYTHON BINARY

PYTHON has openapi-spec-validator and schemathesis, BINARY is a cargo-evalset with the feature `serve`. The requests that schemathesis
makes are the same each time.
"""

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

PYTHON, BINARY = sys.argv[1:]
TOOLS = Path(PYTHON).absolute().parent

# A stream of events without an end.
ENDLESS = "/api/v1/sessions/events"


def main():
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(BINARY).resolve()), "evalset", "serve", "--port", "0", "--no-otlp"]
        service = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            url = re.fullmatch(r"serving on (http://\S+)/\?token=(\S+)\n", service.stdout.readline())
            check(folder, *url.groups())
        finally:
            service.terminate()
            service.wait()


def check(folder, url, token):
    with urllib.request.urlopen(f"{url}/openapi.json") as answer:
        document = json.load(answer)
    assert ENDLESS in document["paths"], "the description has the route that is left out"
    path = Path(folder) / "openapi.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    subprocess.run([TOOLS / "openapi-spec-validator", path], check=True)
    command = [
        TOOLS / "schemathesis", "run", f"{url}/openapi.json",
        "--header", f"Authorization: Bearer {token}",
        "--exclude-path", ENDLESS,
        # What makes a set, a config or a trace valid is more than a schema can say: of such bodies, most are refused.
        "--exclude-checks", "positive_data_acceptance",
        "--generation-deterministic", "--max-examples", "50",
        "--request-timeout", "60", "--continue-on-failure", "--no-color",
    ]  # fmt: skip
    subprocess.run(command, cwd=folder, check=True)


main()
