"""A client of the language server protocol: as much as one open file needs."""

import json
import os
import queue
import subprocess
import sys
import threading
import time

# To load a project, rust-analyzer builds its macros.
LOADING = 600
ANSWERING = 120


class Client:
    """A server that has loaded a folder and has one file open."""

    def __init__(self, command, folder, file):
        target = os.environ.get("CARGO_TARGET_DIR") or str(folder / "target")
        environment = {**os.environ, "CARGO_TARGET_DIR": os.path.abspath(target)}
        self.server = subprocess.Popen(
            [command], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.answers = {}
        self.arrived = queue.Queue()
        self.ready = threading.Event()
        self.number = 0
        # Compiler errors come from cargo, which other tests look at.
        self.settings = {"checkOnSave": False, **json.loads(os.environ.get("RUST_ANALYZER_SETTINGS", "{}"))}
        threading.Thread(target=self._read, daemon=True).start()
        capabilities = {
            "experimental": {
                "serverStatusNotification": True,
                "testExplorer": True,
                "commands": {"commands": ["rust-analyzer.runSingle"]},
            },
            "textDocument": {"hover": {"contentFormat": ["markdown"]}},
            "workspace": {"configuration": True},
        }
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder.as_uri(),
                "workspaceFolders": folders,
                "initializationOptions": self.settings,
                "capabilities": capabilities,
            },
        )
        self.tell("initialized", {})
        document = {"uri": file.as_uri(), "languageId": "rust", "version": 1, "text": file.read_text(encoding="utf-8")}
        self.tell("textDocument/didOpen", {"textDocument": document})
        if not self.ready.wait(LOADING):
            sys.exit(f"rust-analyzer did not load {folder} within {LOADING} s")

    def tell(self, method, params):
        self._send({"method": method, "params": params})

    def ask(self, method, params):
        self.number += 1
        number = self.number
        until = time.monotonic() + ANSWERING
        self._send({"id": number, "method": method, "params": params})
        while number not in self.answers:
            try:
                message = self.arrived.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                sys.exit(f"rust-analyzer did not answer `{method}` within {ANSWERING} s")
            if message is None:
                sys.exit(f"rust-analyzer ended before it answered `{method}`")
            self.answers[message["id"]] = message
        answer = self.answers.pop(number)
        if "error" in answer:
            # What changed while it was answering is asked for again.
            if answer["error"].get("code") in (-32801, -32802) and time.monotonic() < until:
                return self.ask(method, params)
            sys.exit(f"rust-analyzer on `{method}`: {answer['error']}")
        return answer.get("result")

    def end(self):
        self.server.kill()
        self.server.wait()

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def _read(self):
        while True:
            length = None
            while line := self.server.stdout.readline().strip():
                name, value = line.split(b":", 1)
                if name.lower() == b"content-length":
                    length = int(value)
            if length is None:
                self.arrived.put(None)
                return
            message = json.loads(self.server.stdout.read(length))
            method = message.get("method")
            if method == "workspace/configuration":
                asked = message["params"]["items"]
                self._send({"id": message["id"], "result": [self.settings for _ in asked]})
            elif method and "id" in message:
                self._send({"id": message["id"], "result": None})
            elif method == "experimental/serverStatus":
                if message["params"]["quiescent"]:
                    self.ready.set()
            elif not method:
                self.arrived.put(message)
