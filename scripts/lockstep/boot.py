# SPDX-License-Identifier: GPL-2.0-or-later
"""`testbed boot`: target and guest up, everything connected, then a shell or a demo."""
import argparse
import json
import os
import re
import sys
import time

from . import machine, options as opts, table, terminal, warm
from .run import Run
from .target import Target

DEMO_SIZE = 2 << 20             # bytes written and verified on each namespace
CONNECT_SECONDS = 120
DEMO_SECONDS = 120


def say(text):
    print(f"testbed: {text}", file=sys.stderr, flush=True)


def add_parser(verbs):
    parser = verbs.add_parser(
        "boot", help="boot the guest with everything connected: a shell, or a demo without a terminal",
        description="Starts target-sim and the guest, connects every controller, prints what is connected. On a "
                    "terminal a shell of the guest follows (Ctrl-] leaves it, so do exit and poweroff). Without "
                    "one, or with --batch or BATCH=1, fio writes and verifies data on every namespace, with header "
                    "and data digests on unless told otherwise; the exit status is 0 only if all of it verified.")
    opts.add_machine(parser)
    opts.add_target(parser)
    opts.add_connect(parser, digests=None)
    parser.add_argument("--warm", action=argparse.BooleanOptionalAction, default=True,
                        help="in lockstep mode, go on from a booted guest where one is kept, else keep it for the "
                             "next time; not with --hash-log (default on)")
    parser.add_argument("--batch", action="store_true", help="the demo, even on a terminal (as BATCH=1 does)")
    parser.set_defaults(run=main)


def batch_wanted(options):
    value = os.environ.get("BATCH", "")
    if value not in ("", "0", "1"):
        raise opts.UsageError(f"BATCH={value}: 0 or 1 is needed")
    return options.batch or value == "1" or not (sys.stdin.isatty() and sys.stdout.isatty())


def start(run, options, script, variables):
    """Start target and guest with a script of scripts/guest/; they end with the Run.

    Returns the accelerator and the Target, which in lockstep mode is None.
    """
    opts.check_lockstep(options)
    machine.need(machine.paths.QEMU, "QEMU")
    machine.need(options.kernel, "the kernel")
    machine.need(options.initrd, "the image")
    accel = machine.choose_accel(options.accel, options.lockstep)
    if options.lockstep:
        run.give_script(script, {**in_guest_target(options), **variables}, before=["nvmet.sh"])
        if getattr(options, "warm", False) and not options.hash_log and not run.qemu_options:
            say("a booted guest goes on" if warm.start(run, options) else "the booted guest is kept for the next time")
        else:
            run.start_qemu(options, accel)
        return accel, None
    machine.need(machine.paths.TARGET_SIM, "target-sim")
    target = Target(run.folder, opts.target_arguments(options))
    run.targets.append(target)
    target.start()
    ports = target.ready["ports"]
    of_port = {p["portid"]: p for p in ports}
    controllers = sum(len(s.get("ports", of_port)) for s in target.ready["subsystems"])
    spaces = sum(len(s["namespaces"]) for s in target.ready["subsystems"])
    run.give_script(script, {
        "TRADDR": ports[0]["traddr"], "PORT": ports[0]["trsvcid"], "CONNECT": opts.connect_options(options),
        "CONTROLLERS": controllers, "SPACES": spaces, **variables})
    run.start_qemu(options, accel)
    return accel, target


def in_guest_target(options):
    """The variables of nvmet.sh and common.sh for the kernel's target, a port for each path."""
    return {"TRADDR": "127.0.0.1", "PORT": " ".join(str(4420 + path) for path in range(options.paths)),
            "CONNECT": opts.connect_options(options), "CONTROLLERS": options.subsystems * options.paths,
            "SPACES": options.subsystems * options.namespaces, "NVMET_SUBSYSTEMS": options.subsystems,
            "NVMET_PATHS": options.paths, "NVMET_NAMESPACES": options.namespaces,
            "NVMET_KIB": -(-options.size // 1024)}


def machine_name(options, accel):
    return f"{'lockstep' if options.lockstep else accel}, {options.cpus} CPUs"


def show_table(run):
    subsystems = table.parse_description(run.blob("table.tsv"))
    print(table.subsystem_table(subsystems), flush=True)
    return subsystems


def fio_jobs(path):
    """The jobs of fio's report; none where there is no report. What fio says of bad data stands in front of it."""
    try:
        text = path.read_text(errors="replace")
        return json.JSONDecoder().raw_decode(text, text.index("{"))[0]["jobs"]
    except (FileNotFoundError, ValueError):
        return []


def demo_rows(jobs):
    """fio's jobs as rows: what was written, read back, and whether it verified."""
    rows = []
    for job in jobs:
        rows.append([job["jobname"], table.human_size(job["write"]["io_bytes"]),
                     table.human_size(job["read"]["io_bytes"]), job["error"],
                     "verified" if job["error"] == 0 and job["read"]["io_bytes"] == job["write"]["io_bytes"] > 0
                     else "FAILED"])
    return rows


def shell(run, options, began):
    rows, columns = terminal.size()
    run.kernel_options += ["lockstep.shell", f"lockstep.tty={rows}x{columns}"]
    if re.fullmatch(r"[a-z0-9-]+", os.environ.get("TERM", "")):
        run.kernel_options.append(f"TERM={os.environ['TERM']}")
    run.interactive = True
    accel, _ = start(run, options, "shell.sh", {})
    say(f"guest starts ({machine_name(options, accel)}); console log: {run.console_log}")
    run.wait_mark("begin", "shell", CONNECT_SECONDS)
    show_table(run)
    say(f"ready after {time.monotonic() - began:.1f} s; leave with exit, poweroff or Ctrl-]")
    terminal.attach(run.console, run.running)
    run.check()
    if not run.console.open or not run.running():
        run.check_end("while its shell was in use")
    return 0            # left, or ended by the guest: how the last command in it ended is the person's affair


def demo(run, options, began):
    options.digests = options.digests is not False
    accel, _ = start(run, options, "demo.sh", {"DEMO_SIZE": DEMO_SIZE})
    say(f"guest starts ({machine_name(options, accel)})")
    run.wait_mark("begin", "demo", CONNECT_SECONDS)
    show_table(run)
    say(f"connected after {time.monotonic() - began:.1f} s; fio writes and verifies on every namespace")
    status = run.wait_exit(DEMO_SECONDS)
    rows = demo_rows(fio_jobs(run.folder_out / "fio.json"))
    print()
    print(table.render(["namespace", "written", "read back", "errors", "crc32c"], rows), flush=True)
    if status or not rows or any(row[-1] != "verified" for row in rows):
        run.failed = True
        failure = run.folder_out / "failure.txt"
        say("failed: " + (failure.read_text().strip() if failure.exists() else f"the guest's status is {status}"))
        say(f"logs are kept in {run.folder}")
        return 1
    say(f"all data verified, header and data digests {'on' if options.digests else 'off'}, in {time.monotonic() - began:.1f} s")
    return 0


def main(options):
    began = time.monotonic()
    work = demo if batch_wanted(options) else shell
    with Run("boot") as run:
        return work(run, options, began)
