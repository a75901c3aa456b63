# SPDX-License-Identifier: GPL-2.0-or-later
"""What lockstep costs: user CPU beside QEMU's own instruction counting and free-running TCG.

Each case does a fixed number of guest instructions, so that the ratio of user CPU is the ratio per
guest instruction. Medians of rounds taken in turn; nothing fails by being slow.
"""
import os
import shutil
import statistics
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "scripts"), str(TOP / "tests" / "guest")]
sys.dont_write_bytecode = True

from lockstep import cli, machine, run, table       # noqa: E402

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
PROBE = Path(os.environ["LOCKSTEP_BUILD"]) / "tests" / "guest" / "lockstep_probe"
SECONDS = 900
COMMON = ["-cpu", machine.LOCKSTEP_CPU, "-rtc", f"base={machine.LOCKSTEP_DATE},clock=vm"]
ICOUNT = ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", *COMMON]
FREE = ["-accel", "tcg,thread=multi", *COMMON]

# name, vCPUs, work, accelerator's options or None for lockstep, number of the case to compare with
CASES = [
    ("boot, free-running", 4, "", FREE, 0),
    ("boot, lockstep", 4, "", None, 0),
    ("boot, icount", 1, "", ICOUNT, 2),
    ("boot, lockstep", 1, "", None, 2),
    ("boot, icount", 4, "", ICOUNT, 4),
    ("boot, lockstep", 4, "", None, 4),
    ("1 busy, icount", 1, "1 0", ICOUNT, 6),
    ("1 busy, lockstep", 1, "1 0", None, 6),
    ("4 busy, icount", 4, "4 0", ICOUNT, 8),
    ("4 busy, lockstep", 4, "4 0", None, 8),
    ("8 busy, icount", 8, "8 0", ICOUNT, 10),
    ("8 busy, lockstep", 8, "8 0", None, 10),
    ("1 busy of 8, lockstep", 8, "1 0", None, 12),
    ("1 busy, 7 spinning, lockstep", 8, "1 7", None, 12),
]


def user_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


def accelerated(options, words):
    """machine.command() with another accelerator in lockstep's place."""
    before = machine.lockstep_options
    machine.lockstep_options = lambda o: [*words, "-smp", o.cpus] if words else before(o)
    return before


def measure(cpus, work, words):
    """(user seconds, wall seconds) of the work, or of all when there is none."""
    options = cli.parser().parse_args(["boot", "--lockstep", "--cpus", str(cpus)])
    before = accelerated(options, words)
    try:
        with run.Run("bench-clock") as session:
            shutil.copy(PROBE, session.folder_in)
            session.give_script(TOP / "tests" / "bench" / "clock.sh", {"WORK": work})
            began, usage = time.monotonic(), os.times().children_user
            session.start_qemu(options, "tcg")
            if not work:
                session.wait_exit(SECONDS)
                session.qemu.wait()
                return os.times().children_user - usage, time.monotonic() - began
            session.wait_mark("begin", "work", SECONDS)
            began, user = time.monotonic(), user_seconds(session.qemu.pid)
            session.wait_mark("end", "work", SECONDS)
            return user_seconds(session.qemu.pid) - user, time.monotonic() - began
    finally:
        machine.lockstep_options = before


def main():
    found = [[] for _ in CASES]
    for _ in range(ROUNDS):                 # in turn, so that a busy minute hits all alike
        for number, (_, cpus, work, words, _) in enumerate(CASES):
            found[number].append(measure(cpus, work, words))
    user = [statistics.median(u for u, _ in values) for values in found]
    wall = [statistics.median(w for _, w in values) for values in found]
    rows = [[name, cpus, f"{user[n]:.2f}", f"{user[n] / user[base]:.2f}", f"{wall[n]:.2f}", f"{wall[n] / wall[base]:.2f}"]
            for n, (name, cpus, _, _, base) in enumerate(CASES)]
    text = table.render(["case", "vCPUs", "user s", "ratio", "wall s", "ratio"], rows)
    print("\n".join("# " + line for line in text.splitlines()))
    print("ok 1 - clock\n1..1")


main()
