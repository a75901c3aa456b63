# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts that come and go, many times: what the short and the long test of it have in common."""
import contextlib
import json
import os
import pathlib
import random
import signal
import time

import initiator
from harness import Control, wait_for


def stats(control):
    return json.loads(control.run("stats", "--json"))["stats"]["target"]


def resident_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cycle(daemon, number):
    """One host: connects, moves data, and goes in one of four ways."""
    controller = daemon.controller()
    with controller:
        controller.io.write(1, number % 1000, number.to_bytes(4, "little") * 128)
        if number % 4 == 1:  # an R2T is never answered
            controller.io.sock.sendall(initiator.capsule(initiator.sqe(
                initiator.WRITE, 9, 1, 8192, initiator.rw_dwords(0, 16), False)))
        elif number % 4 == 2:  # in the middle of a PDU
            controller.io.sock.sendall(b"\x04\x00\x48\x00\x48")
        elif number % 4 == 3:  # the Admin queue first, with an event request
            controller.admin.sock.sendall(initiator.capsule(initiator.sqe(0x0C, 7, 0, 0, b"", False)))
            controller.admin.close()


def killed_host(daemon, seed):
    """A process that is a host, killed while it works."""
    ready, started = os.pipe()
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            controller = daemon.controller()
            os.write(started, b"x")
            for number in range(1 << 30):
                controller.io.write(1, number % 1000, bytes(4096), in_capsule=number % 2 == 0)
                controller.io.read(1, 0, 65536)
        os._exit(1)
    os.close(started)
    os.read(ready, 1)
    os.close(ready)
    time.sleep(random.Random(seed).random() / 200)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def soak(daemon, control, one, count):
    """one(daemon, number) count times: no descriptor and no controller stays. Returns how much memory grew."""
    idle = daemon.descriptors()

    def repeat(times):
        for number in range(times):
            one(daemon, number)
        wait_for(lambda: stats(control)["connections"] == 0 and stats(control)["controllers"] == 0, "all gone")
        wait_for(lambda: daemon.descriptors() == idle, "all descriptors closed")
        return resident_bytes(daemon.process.pid)

    first = repeat(min(count, 100))  # the allocator's and the pools' first growth
    return repeat(count) - first


@contextlib.contextmanager
def soaking(case, *arguments):
    path = case.folder / "control"
    with case.serving("--size", "1M", "--log", "error", "--control", path, *arguments) as daemon:
        yield daemon, Control(path)
