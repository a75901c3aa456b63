# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one long command: its output into a log, its progress on the terminal.

On failure the last lines of the log are shown, and what to type to go on. A
step that is interrupted takes its whole process group with it.
"""
import os
import re
import signal
import subprocess
import sys
import time

from .paths import LOGS

COUNTER = re.compile(rb"\[(\d+)/(\d+)\]")
ERROR = re.compile(r"\b(error|fatal|undefined reference|No rule to make|No space left)\b", re.I)
END_SECONDS = 10            # for a command to end by itself when it is told to
QUIET_INTERVAL = 30.0       # seconds between lines where there is no terminal


class StepFailed(Exception):
    """A step ended with an error that has been shown already."""


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def say(name, text, end="\n"):
    sys.stderr.write(f"[{name}] {text}{end}")
    sys.stderr.flush()


def _last_words(log):
    """A few words on how far the command is, from the tail of its log."""
    with open(log, "rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - 4096))
        tail = stream.read()
    counters = COUNTER.findall(tail)
    if counters:
        return "%s of %s" % tuple(n.decode() for n in counters[-1])
    lines = [line for line in tail.decode(errors="replace").splitlines() if line.strip()]
    return " ".join(lines[-1].split())[:60] if lines else ""


def _watch(name, proc, log):
    start = last = time.monotonic()
    terminal = sys.stderr.isatty()
    while True:
        try:
            return proc.wait(timeout=0.5 if terminal else 2.0), time.monotonic() - start
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            if terminal:
                say(name, f"{clock(now - start)}  {_last_words(log)}\x1b[K", end="\r")
            elif now - last >= QUIET_INTERVAL:
                last = now
                say(name, f"{clock(now - start)}  {_last_words(log)}")


def show_failure(name, log, status, rerun):
    """The first lines that speak of an error (other jobs may have gone on after it), then the last ones."""
    with open(log, errors="replace") as stream:
        lines = stream.read().splitlines()
    say(name, f"failed (status {status}); from {log}:")
    tail = max(0, len(lines) - 25)
    first = [n for n in range(tail) if ERROR.search(lines[n]) and not re.match(r"\s*(CC|LD|AR)\b|\[\d", lines[n])]
    for number in first[:5]:
        sys.stderr.write(f"    {number + 1}: {lines[number]}\n")
    sys.stderr.write("".join(f"    {line}\n" for line in lines[tail:]))
    say(name, f"mend it and go on with: {rerun}")


def end_group(proc, patience=END_SECONDS):
    """End a command and all of its group; a person's further Ctrl-C does not get in between."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        for number in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(proc.pid, number)
            deadline = time.monotonic() + patience
            while time.monotonic() < deadline:
                proc.poll()
                os.killpg(proc.pid, 0)      # fails once the last one of the group has gone
                time.sleep(0.02)
    except ProcessLookupError:
        proc.wait()


def end_as_interrupted():
    """SIGTERM and SIGHUP end a program as Ctrl-C does: with what it has started.

    A step's command has a session of its own, so that nothing else would end it; a second
    build of the same tree would then run beside it.
    """
    def interrupt(signum, frame):
        raise KeyboardInterrupt
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


def run(name, argv, env=None, cwd=None, rerun="make setup", title=None):
    """Run argv as the step `name`. Raises StepFailed when it fails or is interrupted."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    say(name, title or "started")
    with open(log, "wb") as out:
        out.write(("$ " + " ".join(map(str, argv)) + "\n").encode())
        out.flush()
        proc = subprocess.Popen([str(a) for a in argv], stdout=out, stderr=subprocess.STDOUT,
                                stdin=subprocess.DEVNULL, env=env, cwd=cwd,
                                start_new_session=True)
        try:
            status, took = _watch(name, proc, log)
        except KeyboardInterrupt:
            end_group(proc)
            say(name, f"interrupted; go on with: {rerun}")
            raise StepFailed(name) from None
    if status:
        show_failure(name, log, status, rerun)
        raise StepFailed(name)
    say(name, f"done in {clock(took)}\x1b[K" if sys.stderr.isatty() else f"done in {clock(took)}")
