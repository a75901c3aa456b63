# SPDX-License-Identifier: GPL-2.0-or-later
"""`testbed debug`: the boot stopped at its first instruction, gdb attached to it."""
import shutil
import signal
import subprocess
import sys

from . import boot, machine, options as opts, paths
from .run import Run


def add_parser(verbs):
    parser = verbs.add_parser(
        "debug", help="boot the guest under gdb",
        description="Boots as `testbed boot` does, under gdb, and stops at start_kernel: vmlinux "
                    "with the kernel's own scripts, symbols of modules found as they are loaded. The guest then "
                    "connects and does polled and interrupt-driven I/O. A stop costs the guest no time: its clock "
                    "stands still.")
    opts.add_machine(parser, cpus=2)
    opts.add_target(parser)
    opts.add_connect(parser, poll_queues=1)
    parser.add_argument("--break", dest="breaks", action="append", default=[], metavar="PLACE",
                        help="set a breakpoint, also in a module that is not loaded yet; may be repeated")
    parser.add_argument("--gdb-command", action="append", default=[], metavar="COMMAND",
                        help="run a gdb command after attaching; may be repeated; gdb then ends without a prompt")
    parser.add_argument("--rounds", type=opts.number(1, 1000000), default=1000, metavar="N",
                        help="rounds of the guest's I/O before it powers off (default 1000)")
    parser.set_defaults(run=main)


def gdb_command(run, options):
    """gdb's arguments: it must find the kernel's scripts, then the modules, by itself."""
    argv = ["gdb", "-q", "-nx", "-iex", f"add-auto-load-safe-path {paths.KERNEL}",
            "-ex", "set pagination off", "-ex", "set confirm off", "-ex", "set breakpoint pending on",
            "-ex", f"target remote {run.sockets}/gdb",
            # Before start_kernel its memory is not mapped, and the scripts find nothing.
            "-ex", "thbreak start_kernel", "-ex", "continue",
            "-ex", f"lx-symbols {paths.KERNEL} {paths.MODULES}"]
    for place in options.breaks:
        argv += ["-ex", f"break {place}"]
    for command in options.gdb_command:
        argv += ["-ex", command]
    if options.gdb_command:
        argv += ["-batch"]
    return argv + [str(options.kernel)]


def main(options):
    if not shutil.which("gdb"):
        raise machine.MachineError("gdb is missing: run make setup")
    with Run("debug", boot_timeout=0) as run:
        run.qemu_options = ["-S", "-chardev", f"socket,id=gdb,path={machine.in_list(run.sockets)}/gdb,server=on,wait=off",
                            "-gdb", "chardev:gdb"]
        boot.start(run, options, "debug.sh", {"DEBUG_ROUNDS": options.rounds})
        boot.say(f"the guest's console is in {run.console_log}")
        # gdb owns Ctrl-C while it runs: it stops the guest, not us.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            status = subprocess.run(gdb_command(run, options), cwd=paths.KERNEL,
                                    stdin=None if sys.stdin.isatty() else subprocess.DEVNULL,
                                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)).returncode
        finally:
            signal.signal(signal.SIGINT, before)
        run.poll_events()
        return status
