# SPDX-License-Identifier: GPL-2.0-or-later
"""Many snapshots of one lockstep run, close together: where restored ones part from the run."""
import time

from lockstep import run
from lockstep.monitor import Monitor
from lockstep_runs import finish, start

RECORDS = 60            # of a restored run that are compared
SECONDS = 20


def records(session, whole=True):
    """Those in the hash log so far; a guest that still runs may be in the middle of the last."""
    log = session.folder / "hash.log"
    found = log.read_text().split("round ")[1:] if log.exists() else []
    return found if whole else found[:-1]


def guest_ns(record):
    return int(record.split()[2])


def wait_for(condition):
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"nothing within {SECONDS} s")
        time.sleep(0.01)


def save(session, words, count, since_ns):
    """Start a guest and save it that often, beginning at this guest time: the Result and the files."""
    monitor = Monitor(session.sockets)
    start(session, words, qemu=monitor.options)
    monitor.connect()
    wait_for(lambda: any(guest_ns(r) >= since_ns for r in records(session, False)[-1:]))
    files = []
    for number in range(count):
        file = session.folder / f"state{number}"
        monitor.command("stop")
        monitor.command("migrate", uri=f"file:{file}")
        monitor.wait_for("query-migrate", "status", "completed")
        monitor.command("cont")
        files.append(file)
    monitor.close()
    return finish(session), files


def restore(words, file):
    """The first records of a guest that goes on from a snapshot."""
    with run.Run("lockstep-restore") as session:
        monitor = Monitor(session.sockets)
        start(session, words, qemu=[*monitor.options, "-S", "-incoming", f"file:{file}"])
        monitor.connect()
        monitor.wait_for("query-status", "status", "paused")
        monitor.command("cont")
        wait_for(lambda: len(records(session, False)) >= RECORDS or session.qemu.poll() is not None)
        monitor.close()
        return records(session, False)


def differences(words, count, since_ns):
    """Save that often from this guest time on, restore each; a text for each that parts, and the guest
    times of the first and the last. The run itself must have at least RECORDS more records."""
    with run.Run("lockstep-save") as session:
        result, files = save(session, [*words, "--hash-rounds", 100], count, since_ns)
        whole = {record.split()[0]: record for record in result.records()}
        found, times = [], []
        for number, file in enumerate(files):
            went_on = restore([*words, "--hash-rounds", 100], file)
            times.append(guest_ns(went_on[0]))
            parts = next((r for r in went_on if whole.get(r.split()[0]) != r), None)
            if parts:
                found.append(f"snapshot {number}: {whole.get(parts.split()[0])} is {parts}")
            file.unlink()
        return found, times[0], times[-1]
