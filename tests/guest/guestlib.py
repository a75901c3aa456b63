# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest tests share: testbed as a command, and guests that run a test's own script."""
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
TESTBED = str(TOP / "testbed")
sys.path.insert(0, str(TOP / "scripts"))
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

from lockstep import boot, cli, run                 # noqa: E402


def options(*words):
    """The options of `testbed boot` with these words."""
    return cli.parser().parse_args(["boot", *map(str, words)])


def testbed(*words, env=None, timeout=200):
    """Run the testbed command without a terminal: CompletedProcess with text output."""
    return subprocess.run([TESTBED, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=dict(os.environ, **(env or {})), timeout=timeout)


def guest(name, script, words=(), variables=None, seconds=150):
    """Boot a guest with a script of this folder, wait for its end; (status, Run with its blobs).

    The caller removes run.folder by run.__exit__; use as: with run: ...
    """
    session = run.Run(name)
    with session:
        boot.start(session, options(*words), HERE / script, variables or {})
        status = session.wait_exit(seconds)
        blobs = {p.name: p.read_text(errors="replace") for p in session.folder_out.iterdir()}
        return status, blobs, session.targets[0].ready


def children_of(pid):
    """Every live descendant of a process, as (pid, command)."""
    table = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                table[int(entry.name)] = (int(fields[1]), (entry / "comm").read_text().strip())
            except OSError:
                continue
    found, wanted = [], {pid}
    grown = True
    while grown:
        grown = False
        for child, (parent, comm) in table.items():
            if parent in wanted and child not in wanted:
                wanted.add(child)
                found.append((child, comm))
                grown = True
    return found


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Terminal:
    """testbed on a pseudo-terminal, as a person has it."""

    def __init__(self, *words):
        self.master, self.slave = pty.openpty()
        self.seen = ""
        env = dict(os.environ, TERM="xterm")
        env.pop("BATCH", None)
        self.process = subprocess.Popen([TESTBED, *map(str, words)], stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, start_new_session=True, env=env)

    def wait_for(self, text, seconds=90):
        """Read until the text has come (after what earlier calls consumed); what came before it."""
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            if time.monotonic() > deadline:
                raise AssertionError(f"no {text!r} within {seconds} s; seen: {self.seen[-2000:]!r}")
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                self.seen += os.read(self.master, 65536).decode(errors="replace")
            elif self.process.poll() is not None:
                raise AssertionError(f"testbed ended with {self.process.returncode} before {text!r}; "
                                     f"seen: {self.seen[-2000:]!r}")
        before, self.seen = self.seen.split(text, 1)
        return before

    def type(self, text):
        os.write(self.master, text.encode())

    def wait(self, seconds=30):
        """Wait for testbed's end, reading on; (status, all that was still shown)."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"testbed did not end within {seconds} s; seen: {self.seen[-2000:]!r}")
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                self.seen += os.read(self.master, 65536).decode(errors="replace")
        while select.select([self.master], [], [], 0)[0]:
            self.seen += os.read(self.master, 65536).decode(errors="replace")
        return self.process.returncode, self.seen

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)
        os.close(self.master)
        os.close(self.slave)
