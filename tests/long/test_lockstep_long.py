# SPDX-License-Identifier: GPL-2.0-or-later
"""Lockstep mode in numbers: many runs that are the same, many seeds that differ, many vCPUs, an hour.

LOCKSTEP_RUNS, LOCKSTEP_SEEDS, LOCKSTEP_SNAPSHOTS and LOCKSTEP_SOAK (seconds of guest time) take other counts.
"""
import os
import subprocess
import sys
import unittest

import guestlib                     # noqa: F401  sets the path
from lockstep_runs import first_difference, lockstep
from lockstep_snapshots import differences

RUNS = int(os.environ.get("LOCKSTEP_RUNS", "20"))
SEEDS = int(os.environ.get("LOCKSTEP_SEEDS", "100"))
SNAPSHOTS = int(os.environ.get("LOCKSTEP_SNAPSHOTS", "40"))
SOAK = int(os.environ.get("LOCKSTEP_SOAK", "60"))
TROUBLE = ("unstable", "watchdog", "rcu_sched", "rcu_preempt", "stall", "soft lockup", "hung task")


def burn():
    """A process that loads the machine."""
    return subprocess.Popen([sys.executable, "-c", "while True: pass"])


class Loaded(unittest.TestCase):
    def setUp(self):
        self.load = [burn() for _ in range(2)]

    def tearDown(self):
        for process in self.load:
            process.kill()
            process.wait()

    def many(self, cpus):
        first = lockstep("--cpus", cpus, io=True)
        for number in range(1, RUNS):
            other = lockstep("--cpus", cpus, io=True)
            self.assertEqual(first.identity(), other.identity(), f"run {number}: {first_difference(first, other)}")

    def test_runs_with_io_at_1_vcpu_are_the_same_to_the_bit(self):
        self.many(1)

    def test_runs_with_io_at_4_vcpus_are_the_same_to_the_bit(self):
        self.many(4)

    def test_runs_with_io_at_8_vcpus_are_the_same_to_the_bit(self):
        self.many(8)

    def test_runs_with_io_at_16_vcpus_are_the_same_to_the_bit(self):
        self.many(16)

    def test_each_seed_replays_and_nine_in_ten_are_runs_of_their_own(self):
        chains = set()
        for seed in range(1, SEEDS + 1):
            one, again = (lockstep("--cpus", 4, "--seed", seed) for _ in range(2))
            self.assertEqual(one.identity(), again.identity(), f"seed {seed}: {first_difference(one, again)}")
            chains.add(one.records()[-1].split()[4])
        self.assertGreaterEqual(len(chains), SEEDS * 9 // 10)


class Restored(unittest.TestCase):
    def test_snapshots_all_through_the_boot_continue_as_the_run_would_have(self):
        for since_ns in (1, 60_000_000, 150_000_000, 185_000_000, 195_000_000, 205_000_000, 250_000_000):
            with self.subTest(since_ns=since_ns):
                found, _, _ = differences(["--cpus", 2], SNAPSHOTS, since_ns)
                self.assertEqual(found, [])


class Busy(unittest.TestCase):
    def test_busy_loops_on_up_to_16_vcpus_take_one_vcpus_guest_time_within_1_percent(self):
        for quantum in (500, 1000):
            probe = lockstep("--cpus", 16, "--quantum", quantum, probe=True).probe
            for count in (2, 4, 8, 16):
                with self.subTest(quantum=quantum, threads=count):
                    self.assertLessEqual(abs(probe[f"busy_{count}_ns"] / probe["busy_1_ns"] - 1), 0.01)

    def test_96_vcpus_boot_and_are_parallel(self):
        result = lockstep("--cpus", 96, probe=True)
        self.assertEqual(result.probe["cpus"], 96)
        self.assertLessEqual(abs(result.probe["busy_64_ns"] / result.probe["busy_1_ns"] - 1), 0.01)

    def test_mixed_load_on_8_vcpus_raises_no_alarm_of_the_kernel(self):
        result = lockstep("--cpus", 8, probe=True, io=True, soak=SOAK)
        for word in TROUBLE:
            self.assertNotIn(word, result.blobs["dmesg.txt"])


if __name__ == "__main__":
    import tap
    tap.main()
