# SPDX-License-Identifier: GPL-2.0-or-later
"""Lockstep runs for tests: a guest with tests/guest/lockstep.sh, and all that it left."""
import hashlib
import os
import json
import shutil
import socket
import time
from pathlib import Path

from guestlib import HERE, options
from lockstep import boot, diverge, run

PROBE = Path(os.environ["LOCKSTEP_BUILD"]) / "tests" / "guest" / "lockstep_probe"
SECONDS = 400
SECONDS_FOR_ONE = 200             # of the host, for a busy one of the guest
SMALL = ["--subsystems", 1, "--paths", 1, "--size", "16M", "--queues", 2]


class Result:
    def __init__(self, session):
        self.console = session.console_log.read_bytes()
        self.log = (session.folder / "hash.log").read_text()
        self.blobs = {p.name: p.read_text(errors="replace") for p in session.folder_out.iterdir()}
        self.probe = {}
        for line in self.blobs.get("probe.txt", "").splitlines():
            name, value = line.split()
            self.probe[name] = int(value)

    def identity(self):
        """Equal only for runs that were the same to the bit."""
        fio = self.blobs.get("fio.json", "")
        return [hashlib.sha256(data).hexdigest() for data in (self.console, self.log.encode(), fio.encode())]

    def records(self):
        return self.log.split("round ")[1:]


def start(session, words, probe=False, io=False, qemu=(), soak=0):
    """Start the guest of a Run."""
    shutil.copy(PROBE, session.folder_in)
    session.qemu_options = list(qemu)
    boot.start(session, options("--lockstep", "--hash-log", session.folder / "hash.log", *SMALL, *words),
               HERE / "lockstep.sh", {"PROBE": int(probe), "IO": int(io), "SOAK": soak})


def finish(session, soak=0):
    """Wait for the guest's end: the Result. Raises AssertionError when its script failed."""
    status = session.wait_exit(SECONDS + soak * SECONDS_FOR_ONE)
    session.qemu.wait(10)
    if status:
        raise AssertionError(session.console_tail())
    return Result(session)


def lockstep(*words, probe=False, io=False, qemu=(), soak=0):
    """A whole run with these options of `testbed boot`."""
    with run.Run("lockstep-test") as session:
        start(session, words, probe, io, qemu, soak)
        return finish(session, soak)


def first_difference(one, other):
    """A sentence for a failing test: where two Results part."""
    with run.Run("lockstep-diverge") as session:
        paths = [session.folder / "a", session.folder / "b"]
        for path, result in zip(paths, (one, other)):
            path.write_text(result.log)
        return str(diverge.compare(*paths))


class Monitor:
    """QEMU's monitor protocol on a socket; its options are in `options`."""

    def __init__(self, session):
        self.path = session.sockets / "qmp"
        self.options = ["-qmp", f"unix:{self.path},server=on,wait=off"]

    def connect(self):
        deadline = time.monotonic() + 20
        while True:
            try:
                self.sock = socket.socket(socket.AF_UNIX)
                self.sock.connect(str(self.path))
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self.stream = self.sock.makefile("rw")
        self.stream.readline()
        self.command("qmp_capabilities")

    def command(self, name, **arguments):
        self.stream.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
        self.stream.flush()
        while True:
            answer = json.loads(self.stream.readline())
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise AssertionError(f"{name}: {answer['error']['desc']}")

    def close(self):
        self.stream.close()
        self.sock.close()

    def wait_for(self, name, key, wanted, seconds=60):
        deadline = time.monotonic() + seconds
        while self.command(name)[key] != wanted:
            if time.monotonic() > deadline:
                raise AssertionError(f"{name}: {key} did not become {wanted}")
            time.sleep(0.02)
