# SPDX-License-Identifier: GPL-2.0-or-later
"""One guest run: its folder, its processes, its events, and how it ended.

Whatever happens (a result, a panic, a hang, the target's death, Ctrl-C), leaving
the `with` block ends every process and keeps what a person needs to see why.
"""
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

from . import machine, paths
from .terminal import Console, FileConsole

BOOT_SECONDS = 60           # from power-on to the guest's first sign of life
END_SECONDS = 5             # from the console's end to QEMU's
GUEST_SCRIPTS = paths.TOP / "scripts" / "guest"


class GuestError(Exception):
    """The run did not end as asked: panic, hang, death of a part; the text says which."""


def new_run_id():
    return datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ-") + secrets.token_hex(2)


class Run:
    def __init__(self, name, results=None, boot_timeout=BOOT_SECONDS):
        """results: keep the run in results/name/run id; without, a temporary folder goes on success."""
        self.name = name
        self.run_id = new_run_id()
        self.kept = results is not None
        if self.kept:
            self.folder = Path(results) / name / self.run_id
            self.folder.mkdir(parents=True)
        else:
            self.folder = Path(tempfile.mkdtemp(prefix="lockstep-"))
        # Socket paths are limited to 108 bytes; a checkout's path may be longer.
        self.sockets = Path(tempfile.mkdtemp(prefix="lockstep-"))
        self.folder_in, self.folder_out = self.folder / "in", self.folder / "out"
        self.folder_in.mkdir()
        self.folder_out.mkdir()
        self.console_socket = self.sockets / "console"
        self.console_log = self.folder / "console.log"
        self.boot_timeout = boot_timeout
        self.kernel_options = []
        self.qemu_options = []
        self.targets = []
        self.watch_targets = True
        self.interactive = False    # a person is at the console
        self.pause_at = None        # the mark at which QEMU stops the machine
        self.qemu = None
        self.console = None
        self.failed = False
        self.started = time.monotonic()
        self._events_read = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.stop()
        shutil.rmtree(self.sockets, ignore_errors=True)
        # Who interrupts a run does not want to know why it ended.
        if kind is KeyboardInterrupt or not self.kept and kind is None and not self.failed:
            shutil.rmtree(self.folder, ignore_errors=True)
        elif kind is not None and any(self.folder.glob("*.log")):
            print(f"testbed: logs are kept in {self.folder}", file=sys.stderr, flush=True)
        elif kind is not None:
            shutil.rmtree(self.folder, ignore_errors=True)      # nothing has been started
        return False

    def give(self, name, text):
        """A file that the guest can get by name."""
        (self.folder_in / name).write_text(text)

    def give_script(self, name, variables, before=()):
        """boot.sh for the guest: the variables, the common part, those named in before, then the named script."""
        lines = [f"{key}={shell_quote(value)}\n" for key, value in variables.items()]
        parts = [GUEST_SCRIPTS / part for part in ("common.sh", *before, name)]
        self.give("boot.sh", "".join(lines) + "".join(p.read_text() for p in parts))

    def start_qemu(self, options, accel):
        argv = machine.command(options, accel, self)
        (self.folder / "qemu.cmd").write_text(" ".join(map(shell_quote, argv)) + "\n")
        with open(self.folder / "qemu.log", "wb") as log:
            self.qemu = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                         start_new_session=True, preexec_fn=_die_with_parent)
        if options.lockstep and not self.interactive:
            self.console = FileConsole()
            return
        try:
            self.console = Console(self.console_socket, self.qemu.poll)
        except OSError:
            raise GuestError("QEMU did not start: " + self.qemu_words()) from None

    def qemu_words(self):
        text = (self.folder / "qemu.log").read_text(errors="replace").strip()
        return "\n".join(text.splitlines()[-8:]) or "(it said nothing)"

    def console_tail(self, lines=25):
        try:
            text = self.console_log.read_text(errors="replace")
        except OSError:
            return ""
        return "\n".join("    " + line.rstrip("\r") for line in text.splitlines()[-lines:])

    def poll_events(self):
        """The guest's events since the last call, as dicts."""
        path = self.folder_out / "events.jsonl"
        fresh = []
        try:
            with open(path) as stream:
                stream.seek(self._events_read)
                while (line := stream.readline()).endswith("\n"):
                    self._events_read = stream.tell()
                    fresh.append(json.loads(line))
        except FileNotFoundError:
            pass
        self.events += fresh
        return fresh

    def trouble(self):
        """None while all is well, else an exception that says what went wrong."""
        for event in self.poll_events():
            if event["event"] == "panic":
                return GuestError(f"the guest's kernel panicked: {event.get('message', '')}\n{self.console_tail()}")
            if event["event"] == "hang":
                what = ("did not come up" if event.get("reason") == "boot" else "hangs: its watchdog was not served")
                return GuestError(f"the guest {what} for {event.get('seconds')} s; its last words:\n"
                                  f"{self.console_tail()}")
        if self.watch_targets:
            for target in self.targets:
                if target.died():
                    return GuestError(target.died())
        return None

    def exit_status(self):
        """The status of the guest's `lsctl exit`, or None when it said none."""
        for event in self.events:
            if event["event"] == "exit":
                return event["status"]
        return None

    def check(self):
        trouble = self.trouble()
        if trouble:
            self.failed = True
            raise trouble

    def running(self):
        self.check()
        return self.qemu.poll() is None

    def wait_mark(self, phase, name, seconds):
        """Wait for a mark of the guest's. Raises GuestError if the run ends or the time does."""
        deadline = time.monotonic() + seconds
        while True:
            alive = self.running()
            if any(e["event"] == "mark" and e["phase"] == phase and e["name"] == name for e in self.events):
                return
            if not alive:
                self.check()
                self._raise_end(f"before '{name}' was reached")
            if time.monotonic() > deadline:
                self.failed = True
                raise GuestError(f"the guest did not reach '{name}' within {seconds} s; its last words:\n"
                                 f"{self.console_tail()}")
            self.console.receive()     # the log has it
            time.sleep(0.01)

    def wait_exit(self, seconds):
        """Wait until the guest ends the run; its exit status. Raises GuestError for every other end."""
        deadline = time.monotonic() + seconds
        while self.running():
            if time.monotonic() > deadline:
                self.failed = True
                raise GuestError(f"the guest did not end within {seconds} s; its last words:\n{self.console_tail()}")
            self.console.receive()     # the log has it
            time.sleep(0.01)
        self.check()
        if self.exit_status() is None:
            self._raise_end("without a result")
        return self.exit_status()

    def check_end(self, when):
        """The console has gone, so QEMU goes. Raises GuestError unless it was the guest's own end."""
        try:
            status = self.qemu.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.failed = True
            raise GuestError(f"QEMU closed the console {when} but did not end") from None
        self.check()
        if status and self.exit_status() is None:
            self._raise_end(when)

    def _raise_end(self, when):
        self.failed = True
        status = self.qemu.wait()
        if self.exit_status() is not None:
            raise GuestError(f"the guest's script ended with status {self.exit_status()} {when}; its last words:\n"
                             f"{self.console_tail()}")
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        raise GuestError(f"QEMU {how} {when}: {self.qemu_words()}\n{self.console_tail()}")

    def blob(self, name):
        """A file the guest put, as text. Raises GuestError when it did not."""
        try:
            return (self.folder_out / name).read_text()
        except FileNotFoundError:
            self.failed = True
            raise GuestError(f"the guest left no result '{name}'; its last words:\n{self.console_tail()}") from None

    def stop(self):
        if self.qemu and self.qemu.poll() is None:
            self.qemu.terminate()
            try:
                self.qemu.wait(timeout=3)
            except subprocess.TimeoutExpired:
                os.killpg(self.qemu.pid, signal.SIGKILL)
                self.qemu.wait()
        if self.console:
            self.console.close()
        for target in self.targets:
            target.stop()


def shell_quote(text):
    import shlex
    return shlex.quote(str(text))


def _die_with_parent():
    import ctypes
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
