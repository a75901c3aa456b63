# SPDX-License-Identifier: GPL-2.0-or-later
"""Lockstep mode: parallel in guest time, the same every time, undisturbed by stops, snapshots and gdb."""
import shutil
import subprocess
import time
import unittest

import guestlib                     # noqa: F401  sets the path
from lockstep import paths, run, warm
from lockstep.monitor import Monitor
from lockstep_runs import finish, first_difference, lockstep, start
from lockstep_snapshots import differences

QUANTUM = 1000
VCPU_STARTS_NS = 190_000_000    # of the guest's boot: soon after it, INIT and start-up signals are on their way


class Guest(unittest.TestCase):
    def same(self, one, other):
        self.assertEqual(one.identity(), other.identity(), first_difference(one, other))


class Time(Guest):
    @classmethod
    def setUpClass(cls):
        cls.result = lockstep("--cpus", 4, probe=True)

    def test_busy_loops_on_2_and_4_vcpus_take_one_vcpus_guest_time_within_1_percent(self):
        one = self.result.probe["busy_1_ns"]
        for count in (2, 4):
            self.assertLessEqual(abs(self.result.probe[f"busy_{count}_ns"] - one), one / 100)

    def test_busy_loop_of_20_million_instructions_takes_20_ms(self):
        self.assertLessEqual(abs(self.result.probe["busy_1_ns"] - 20_000_000), 200_000)

    def test_no_vcpus_own_time_goes_back(self):
        self.assertEqual(self.result.probe["own_back"], 0)

    def test_times_of_two_vcpus_differ_by_less_than_the_quantum(self):
        self.assertLess(self.result.probe["across_back_ns"], QUANTUM)

    def test_no_sleeper_wakes_before_it_was_woken(self):
        self.assertEqual(self.result.probe["wake_early"], 0)

    def test_a_word_passed_by_spinning_takes_at_most_two_quanta_to_and_fro(self):
        self.assertLessEqual(self.result.probe["handoff_ns"], 2 * QUANTUM)

    def test_the_kernel_trusts_its_clock(self):
        text = self.result.blobs["dmesg.txt"]
        for word in ("unstable", "clocksource: timekeeping watchdog", "rcu_sched self-detected", "stall"):
            self.assertNotIn(word, text)


class Same(Guest):
    def test_two_runs_with_io_at_4_vcpus_are_the_same_to_the_bit(self):
        self.same(lockstep("--cpus", 4, io=True), lockstep("--cpus", 4, io=True))

    def test_a_seed_replays_and_is_another_run_than_the_plain_one(self):
        plain = lockstep("--cpus", 4)
        seeded = lockstep("--cpus", 4, "--seed", 1)
        self.same(seeded, lockstep("--cpus", 4, "--seed", 1))
        self.assertNotEqual(plain.log, seeded.log)

    def test_a_reset_takes_effect_at_the_same_place_each_time(self):
        found = []
        for _ in range(2):
            with run.Run("lockstep-reset") as session:
                # The last of two such options counts.
                start(session, ["--cpus", 2], qemu=["-action", "reboot=reset"], reset=True)
                found.append(finish(session))
        self.assertIn("again", found[0].blobs)
        self.same(*found)

    def test_rate_and_pause_and_quantum_are_taken(self):
        fast = lockstep("--cpus", 2, "--rate", "2", "--pause", 100, "--quantum", 500, probe=True)
        self.assertLessEqual(abs(fast.probe["busy_1_ns"] - 10_000_000), 100_000)
        self.assertLess(fast.probe["across_back_ns"], 500)


class Undisturbed(Guest):
    @classmethod
    def setUpClass(cls):
        cls.plain = lockstep("--cpus", 2)

    def test_stops_by_the_monitor_leave_the_run_as_it_was(self):
        with run.Run("lockstep-stop") as session:
            monitor = Monitor(session.sockets)
            start(session, ["--cpus", 2], qemu=monitor.options)
            monitor.connect()
            for _ in range(5):
                monitor.command("stop")
                time.sleep(0.1)
                monitor.command("cont")
                time.sleep(0.1)
            monitor.close()
            self.same(self.plain, finish(session))

    def test_a_restored_snapshot_continues_as_the_run_would_have_hash_for_hash(self):
        with run.Run("lockstep-save") as saved:
            file = saved.folder / "state"
            monitor = Monitor(saved.sockets)
            start(saved, ["--cpus", 2], qemu=monitor.options)
            monitor.connect()
            time.sleep(1)
            monitor.command("stop")
            monitor.command("migrate", uri=f"file:{file}")
            monitor.wait_for("query-migrate", "status", "completed")
            monitor.command("cont")
            monitor.close()
            self.same(self.plain, finish(saved))
            for part in (b'"lockstep/held"', b'"vector_time"', b'"signal_time"', b'"startup"'):
                self.assertIn(part, file.read_bytes())      # the stream ends with its own description
            with run.Run("lockstep-restore") as restored:
                monitor = Monitor(restored.sockets)
                start(restored, ["--cpus", 2], qemu=[*monitor.options, "-S", "-incoming", f"file:{file}"])
                monitor.connect()
                monitor.wait_for("query-status", "status", "paused")
                monitor.command("cont")
                monitor.close()
                tail = finish(restored).records()
        self.assertGreater(len(tail), 1)
        self.assertEqual(tail, self.plain.records()[-len(tail):])

    def test_snapshots_while_another_vcpu_starts_continue_as_the_run_would_have(self):
        found, _, _ = differences(["--cpus", 2], 12, VCPU_STARTS_NS)
        self.assertEqual(found, [])

    def test_a_snapshot_of_another_seed_is_refused_with_its_options(self):
        with run.Run("lockstep-save") as saved:
            file = saved.folder / "state"
            monitor = Monitor(saved.sockets)
            start(saved, ["--cpus", 2], qemu=[*monitor.options, "-S"])
            monitor.connect()
            monitor.command("migrate", uri=f"file:{file}")
            monitor.wait_for("query-migrate", "status", "completed")
            monitor.close()
            with run.Run("lockstep-restore") as restored:
                start(restored, ["--cpus", 2, "--seed", 1], qemu=["-incoming", f"file:{file}"])
                self.assertNotEqual(restored.qemu.wait(20), 0)
                self.assertIn("seed 0; set the same", restored.qemu_words())

    def test_a_warm_start_gives_the_results_and_the_console_of_the_boot(self):
        found, before = [], warm.FOLDER
        with run.Run("lockstep-warm") as folder:
            warm.FOLDER = folder.folder
            try:
                for _ in range(2):
                    with run.Run("lockstep-warm") as session:
                        start(session, ["--cpus", 2], io=True, log=False)
                        found.append(finish(session))
            finally:
                warm.FOLDER = before
        self.assertIn("fio.json", found[0].blobs)
        self.assertEqual(found[0].blobs["fio.json"], found[1].blobs["fio.json"])
        self.assertEqual(found[0].console, found[1].console)

    @unittest.skipUnless(shutil.which("gdb"), "gdb is missing")
    def test_100_breakpoints_and_steps_of_gdb_leave_the_run_as_it_was(self):
        with run.Run("lockstep-gdb") as session:
            gdb = f"{session.sockets}/gdb"
            start(session, ["--cpus", 2], qemu=[
                "-S", "-chardev", f"socket,id=gdb,path={gdb},server=on,wait=off", "-gdb", "chardev:gdb"])
            commands = [f"target remote {gdb}", "break do_sys_openat2", "ignore 1 100", "continue",
                        "info breakpoints", "stepi", "stepi", "next", "delete", "detach"]
            argv = ["gdb", "-q", "-nx", "-batch", "-ex", "set pagination off"]
            while not session.sockets.joinpath("gdb").exists():
                time.sleep(0.01)
            done = subprocess.run(argv + [w for c in commands for w in ("-ex", c)] + [paths.VMLINUX],
                                  capture_output=True, text=True, timeout=200)
            self.assertIn("already hit 101 times", done.stdout)
            self.same(self.plain, finish(session))


if __name__ == "__main__":
    import tap
    tap.main()
