"""Runs a program on a terminal of its own and types: `typed.py STEPS PROGRAM ARGS..`.

STEPS is a JSON list. A step has the text to wait for since the last step, and what is typed then: `kill` kills the program, and
`hangup` closes its terminal. Further
elements are pairs of files, the first of which is copied over the second before; `{"run": [..]}`, a command that runs before; and
`{"kill": SECONDS}`, which kills the program so long after the key. Prints all that the terminal showed.
"""
import json, os, pty, select, shutil, subprocess, sys, time

steps = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
shown, seen = b"", 0
deadline = time.monotonic() + 60
ended = False


def read(wait):
    global shown, ended
    if not ended and select.select([terminal], [], [], wait)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            data = b""
        shown += data
        ended = not data


for wanted, typed, *more in steps:
    while wanted.encode() not in shown[seen:] and not ended and time.monotonic() < deadline:
        read(0.1)
    if wanted.encode() not in shown[seen:]:
        sys.stdout.buffer.write(shown)
        print(f"\nnever shown: {wanted!r}")
        os.kill(pid, 9)
        sys.exit(99)
    seen = shown.index(wanted.encode(), seen) + len(wanted.encode())
    # The prompt is shown before keys are read, and what is typed before that is dropped.
    time.sleep(0.15)
    for it in more:
        if isinstance(it, list):
            shutil.copyfile(*it)
        elif "run" in it:
            ran = subprocess.run(it["run"], capture_output=True)
            sys.stdout.buffer.write(b"".join(b"| " + line for line in ran.stdout.splitlines(True)))
    if typed == "kill":
        os.kill(pid, 9)
    elif typed == "hangup":
        os.close(terminal)
        ended = True
    elif typed:
        os.write(terminal, typed.encode())
    for it in more:
        if "kill" in it:
            time.sleep(it["kill"])
            os.kill(pid, 9)
while not ended and time.monotonic() < deadline:
    read(0.1)
sys.stdout.buffer.write(shown)
status = os.waitpid(pid, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) % 256)
