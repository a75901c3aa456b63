# SPDX-License-Identifier: GPL-2.0-or-later
"""Lockstep runs for tests: a guest with tests/guest/lockstep.sh, and all that it left."""
import hashlib
import os
import shutil
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
        log = session.folder / "hash.log"
        self.log = log.read_text() if log.exists() else ""
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


def start(session, words, probe=False, io=False, qemu=(), soak=0, log=True, reset=False):
    """Start the guest of a Run; without a hash log it may be a warm start."""
    shutil.copy(PROBE, session.folder_in)
    (session.folder_in / "again").symlink_to(session.folder_out / "again")
    session.qemu_options = list(qemu)
    hash_log = ["--hash-log", session.folder / "hash.log"] if log else []
    boot.start(session, options("--lockstep", *hash_log, *SMALL, *words),
               HERE / "lockstep.sh", {"PROBE": int(probe), "IO": int(io), "SOAK": soak, "RESET": int(reset)})


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

