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
    bare = [re.sub(r"\s+# .*", "", re.sub(r"^\s*(- )?(run: )?", "", it)) for it in [*lines, *spans]]
    commands = {re.sub(r"\s+", " ", it).strip() for it in bare}
    found = [it for it in commands if it == begin] or [it for it in commands if it.startswith(begin)]
    hold(len(found) == 1, f"{page} has {len(found)} commands that begin with `{begin}`: {found}")
    command = found[0]
    for old, new in changes:
        hold(old in command, f"`{command}` of {page} has no `{old}`")
        command = command.replace(old, new)
    return command


def step(option):
    """The step of docs/ci.md that runs an agent, with the options of the remark that has this one."""
    (steps,) = [it for it in blocks("docs/ci.md", "yaml") if "run: cargo evalset run" in it]
    found = re.findall(rf"# .+?: ({option} .+)", steps)
    hold(len(found) == 1, f"docs/ci.md has {len(found)} remarks with `{option}`")
    return re.sub("--agent-cmd .+", lambda _: found[0], shown("docs/ci.md", "cargo evalset run evals"))


class User:
    """The commands of one user, and their output."""

    # `--show`: the output is printed.
    shows = False

    def __init__(self, name, binary, path=(), command="cargo evalset", **env):
        self.name, self.command = name, command
        self.place = Path(tempfile.mkdtemp(prefix=f"evalset-walk-{name}-"))
        self.folder = self.place / "my-agent"
        self.commands, self.first, self.codes, self.page = 0, None, {}, 0
        programs = self.place / "bin"
        for made in [self.folder, programs]:
            made.mkdir()
        # The programs that the install puts on the PATH.
        for program in ["cargo-evalset", "evalset"]:
            (programs / program).symlink_to(binary.with_name(program))
        # Variables of this project, of a CI service and of an active environment change what is found.
        names = [key for key in os.environ if not key.startswith(("EVALSET_", "GITHUB_"))]
        kept = {key: os.environ[key] for key in names if key not in ("CI", "VIRTUAL_ENV", "PYTHONPATH")}
        paths = [str(programs), *(str(it) for it in path), kept["PATH"]]
        self.env = {**kept, "PATH": os.pathsep.join(paths), "CARGO_TERM_COLOR": "never", "NO_COLOR": "1", **env}

    def installs(self, line):
        """The command is there already; its line counts."""
        print(f"$ {line}", flush=True)
        self.commands += 1

    def types(self, line, code=0, says=(), result=None, yes=False):
        """Types a line, which ends with this code and says these texts. The text `result` shows that a case passed or failed.
        With `yes`, the line runs on a terminal, and each question gets this answer. Returns the output."""
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
        """The exit code of a line, and its output."""
        code, said = self.execute(line, folder or self.folder, {**self.env, **env}, yes)
        if self.shows:
            print(said, flush=True)
        return code, said

    def execute(self, line, folder, env, yes):
        print(f"$ {line}", flush=True)
        options = {"cwd": folder, "env": env}
        words = ["bash", "-c", line]
        if not yes:
            options |= {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            done = subprocess.run(words, text=True, **options)
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
        """The job of docs/ci.md, in a clone of the user's commit. All cases pass; or the case `failed` fails, and `tests` ends
        with this code. The command that the failure names fails in the same way. Returns the output of `tests`."""
        job = self.place / "job"
        shutil.rmtree(job, ignore_errors=True)
        commit = "git -c user.name=user -c user.email=user@example.com commit --quiet --allow-empty --message evals"
        ended, said = self.run(f"rm -rf .git && git init --quiet && git add --all && {commit} && git clone --quiet . {job}")
        hold(ended == 0, said)
        id, summary = str(time.time_ns()), job / "summary.md"
        env = {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": id, "GITHUB_RUN_ATTEMPT": "1"}
        env |= {"EVALSET_RUN_ID": f"{id}-1", "GITHUB_STEP_SUMMARY": str(summary)}
        first, last = (shown("docs/ci.md", f"cargo evalset {it} --github") for it in ["check evals", "report"])
        steps = [first, tests, last]
        ended = [self.run(line.replace("cargo evalset", self.command), job, env) for line in steps]
        (check, checks), (tested, log), (report, said) = ended
        hold(check == 0, f"check ended with {check}:\n{checks}")
        hold((job / "report.html").is_file(), f"there is no page:\n{log}{said}")
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
        codes = ", ".join(f"{name} {code}" for name, code in self.codes.items())
        print(f"walk {self.name}: {self.first} commands to the first result, {codes}, page {self.page // 1000} kB", flush=True)


def read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
