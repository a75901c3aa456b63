# SPDX-License-Identifier: GPL-2.0-or-later
"""Warm starts in lockstep mode: a guest that has booted is kept, and the next boot goes on from there.

It goes on as the boot would have, to the bit: its console log begins with the boot's.
"""
import hashlib
import json
import shutil

from . import machine, paths
from .monitor import Monitor

FOLDER = paths.BUILD / "warm"
KEPT = 4                        # the newest; each is a little larger than the memory the guest has touched
MARK = "booted"                 # what the guest's init marks when told to by lockstep.mark
BOOT_SECONDS = 600


def _file(path):
    status = path.stat()
    return [str(path), status.st_size, status.st_mtime_ns]


def key(options, run):
    """The name of the snapshot that these options can go on from."""
    facts = [_file(paths.QEMU), _file(options.kernel), _file(options.initrd), options.cpus, options.memory,
             options.append, run.kernel_options, [options.quantum, options.seed, options.rate, options.pause],
             machine.COMMAND_LINE, machine.LOCKSTEP_COMMAND_LINE, machine.LOCKSTEP_CPU, run.interactive]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:20]


def _prune():
    snapshots = sorted(FOLDER.glob("*.state"), key=lambda p: p.stat().st_mtime_ns, reverse=True)
    for state in snapshots[KEPT:]:
        state.unlink(missing_ok=True)
        state.with_suffix(".console").unlink(missing_ok=True)


def start(run, options):
    """Start QEMU from a snapshot, or boot and leave one. Returns whether it was there."""
    state = FOLDER / (key(options, run) + ".state")
    monitor = Monitor(run.sockets)
    warm = state.is_file() and state.with_suffix(".console").is_file()
    if warm:
        shutil.copyfile(state.with_suffix(".console"), run.console_log)
        run.qemu_options = [*run.qemu_options, *monitor.options, "-S", "-incoming", f"file:{machine.in_list(state)}"]
    else:
        run.qemu_options = [*run.qemu_options, *monitor.options]
        run.pause_at = MARK
    run.start_qemu(options, "tcg")
    monitor.connect()
    if warm:
        monitor.wait_for("query-status", "status", "paused")
    else:
        run.wait_mark("begin", MARK, BOOT_SECONDS)
        monitor.wait_for("query-status", "status", "paused")
        _save(run, monitor, state)
    monitor.command("cont")
    monitor.close()
    return warm


def _save(run, monitor, state):
    """Write the snapshot under another name first, so that what is there is whole."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    fresh = state.with_name(f"{state.stem}.{run.run_id}.new")
    try:
        monitor.command("migrate", uri=f"file:{machine.in_list(fresh)}")
        monitor.wait_for("query-migrate", "status", "completed")
        shutil.copyfile(run.console_log, state.with_suffix(".console"))
        fresh.replace(state)
    finally:
        fresh.unlink(missing_ok=True)
    _prune()
