"""A new user: an empty folder, a PATH with the command, and the lines of the pages, typed one after another."""

import os
import pty
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
# The agent that a user writes by hand.
AGENTS = HERE / "agents"
QUESTION = b"q = quit]"
ANNOTATION = re.compile(r"^::error file=(.+?),line=(\d+),.*?::(.*)$", re.MULTILINE)


def hold(is_so, message):
    if not is_so:
        raise AssertionError(message)


def blocks(page, language):
    """The code blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)


def shown(page, begin, *changes):
    """The command of a page that is this text, or begins with it, without its remark. A change is a part of the command with
    the part that the user types in its place."""
    text = (ROOT / page).read_text()
    lines = "".join(blocks(page, "(?:sh|yaml)")).replace("\\\n", " ").splitlines()
    spans = re.findall(r"(?<!`)`([^`]+)`(?!`)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    commands = {re.sub(r"\s+", " ", re.sub(r"\s+# .*", "", re.sub(r"^\s*(- )?(run: )?", "", it))).strip() for it in [*lines, *spans]}
    found = [it for it in commands if it == begin] or [it for it in commands if it.startswith(begin)]
    hold(len(found) == 1, f"{page} has {len(found)} commands that begin with `{begin}`: {found}")
    command = found[0]
    for old, new in changes:
        hold(old in command, f"`{command}` of {page} has no `{old}`")
        command = command.replace(old, new)
    return command


class User:
    """What one user types and sees."""

    # Whether all that is said is printed.
    shows = False

    def __init__(self, name, binary, folder="my-agent", path=(), **env):
        self.name = name
        self.place = Path(tempfile.mkdtemp(prefix=f"evalset-walk-{name}-"))
        self.folder = self.place / folder
        self.commands, self.first, self.codes, self.page = 0, None, {}, 0
        programs = self.place / "bin"
        for made in [self.folder, programs]:
            made.mkdir()
        # What the install puts on the PATH.
        for program in ["cargo-evalset", "evalset"]:
            (programs / program).symlink_to(binary.with_name(program))
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("EVALSET_", "GITHUB_")) and key not in ("CI", "VIRTUAL_ENV", "PYTHONPATH")}
        paths = [str(programs), *(str(it) for it in path), kept["PATH"]]
        self.env = {**kept, "PATH": os.pathsep.join(paths), "CARGO_TERM_COLOR": "never", "NO_COLOR": "1", **env}

    def installs(self, line):
        """The command is there already; its line counts."""
        print(f"$ {line}", flush=True)
        self.commands += 1

    def types(self, line, code=0, says=(), result=None, yes=False):
        """Types a line, which ends with this code and says these texts; `result` is one that shows that a case passed or failed.
        With `yes`, the line runs on a terminal, and each question is answered so. Returns what was said."""
        if self.first is None:
            self.commands += 1
        ended, said = self.run(line, yes=yes)
        hold(ended == code, f"`{line}` ended with {ended} in place of {code}:\n{said}")
        for text in [*says, *([result] if result else [])]:
            hold(text in said, f"`{line}` does not say `{text}`:\n{said}")
        if result and self.first is None:
            self.first = self.commands
        return said

    def run(self, line, folder=None, env={}, yes=False):
        """The exit code of a line, and what it said."""
        code, said = self.ran(line, folder, env, yes)
        if self.shows:
            print(said, flush=True)
        return code, said

    def ran(self, line, folder, env, yes):
        print(f"$ {line}", flush=True)
        options = {"cwd": folder or self.folder, "env": {**self.env, **env}}
        words = ["bash", "-c", line]
        if not yes:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
            return done.returncode, done.stdout
        ours, theirs = pty.openpty()
        with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, **options) as process:
            os.close(theirs)
            said, answered = b"", 0
            # The end of a terminal is an error on Linux.
            while chunk := read(ours):
                said += chunk
                for _ in range(said.count(QUESTION) - answered):
                    os.write(ours, b"y\n")
                    answered += 1
        os.close(ours)
        return process.returncode, said.decode().replace("\r\n", "\n")

    def writes(self, file, text):
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edits(self, file, old, new):
        """Changes a text that a file has once."""
        text = (self.folder / file).read_text()
        hold(text.count(old) == 1, f"{file} has `{old}` {text.count(old)} times")
        self.writes(file, text.replace(old, new))

    def job(self, tests, cases, failed=None, code=1):
        """The job of docs/ci.md, in a clone of what the user commits. All cases pass; or one fails, and `tests` ends with this
        code. Returns what `tests` said."""
        job = self.place / "job"
        shutil.rmtree(job, ignore_errors=True)
        commit = "git -c user.name=user -c user.email=user@example.com commit --quiet --allow-empty --message evals"
        ended, said = self.run(f"rm -rf .git && git init --quiet && git add --all && {commit} && git clone --quiet . {job}")
        hold(ended == 0, said)
        id, summary = str(time.time_ns()), job / "summary.md"
        env = {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": id, "GITHUB_RUN_ATTEMPT": "1", "EVALSET_RUN_ID": f"{id}-1", "GITHUB_STEP_SUMMARY": str(summary)}
        check, log = self.run(shown("docs/ci.md", "cargo evalset check evals --github"), job, env)
        hold(check == 0, f"check ended with {check}:\n{log}")
        tested, log = self.run(tests, job, env)
        report, said = self.run(shown("docs/ci.md", "cargo evalset report --github"), job, env)
        page, junit = ((job / file).read_text() for file in ["report.html", "junit.xml"])
        for case in cases:
            hold(case in page and "</html>" in page, f"the page does not hold `{case}`")
        expected = (code, 1) if failed else (0, 0)
        hold((tested, report) == expected, f"tests and report ended with {tested} and {report}:\n{log}{said}")
        found = ANNOTATION.findall(said)
        if failed is None:
            hold(not found and 'failures="0"' in junit, f"{found}:\n{junit}")
            hold(f"{len(cases)} passed" in summary.read_text(), summary.read_text())
            self.codes["green"] = report
        else:
            hold(len(found) == 1, f"{len(found)} annotations:\n{said}")
            hold('failures="1"' in junit and "1 failed" in summary.read_text(), junit)
            (file, line, _), = found
            below = "".join((job / file).read_text().splitlines(keepends=True)[int(line) - 1 :])
            hold(re.search(r'"eval_?[iI]d":\s*"(.*?)"', below)[1] == failed, f"{found} is not the place of `{failed}`")
            again = re.search(r"^\s*run again +(.+)$", log, re.MULTILINE)
            hold(again, f"the failure names no next command:\n{log}")
            ended, said = self.run(again[1], job)
            hold(ended == code and "below" in said, f"`{again[1]}` ended with {ended}:\n{said}")
            self.codes["red"] = report
        self.page = len(page)
        return log

    def ends(self):
        """The line that sums the walk up."""
        hold(self.first is not None and self.first <= 5, f"the first result took {self.first} commands")
        hold(self.codes == {"green": 0, "red": 1}, f"the jobs ended with {self.codes}")
        shutil.rmtree(self.place)
        print(f"walk {self.name}: {self.first} commands to the first result, green 0, red 1, page {self.page // 1000} kB", flush=True)


def read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
