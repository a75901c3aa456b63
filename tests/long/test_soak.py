# SPDX-License-Identifier: GPL-2.0-or-later
"""Many boots in a row: none may fail, and nothing may be left behind."""
import os
import tempfile
import unittest
from pathlib import Path

import guestlib

BOOTS = 20


def leftovers():
    return sorted(p.name for p in Path(tempfile.gettempdir()).glob("lockstep-*"))


class Soak(unittest.TestCase):
    def test_twenty_demos_in_a_row_verify_and_leave_no_file_and_no_process(self):
        before = leftovers()
        for number in range(BOOTS):
            with self.subTest(boot=number):
                done = guestlib.testbed("boot", "--batch", "--cpus", 1 + number % 4)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(leftovers(), before)
        self.assertEqual(guestlib.children_of(os.getpid()), [])

    def test_sixteen_subsystems_with_four_paths_connect_and_verify(self):
        done = guestlib.testbed("boot", "--batch", "--subsystems", 16, "--paths", 4, "--size", "16M", "--queues", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len([x for x in done.stdout.splitlines() if x.endswith("live")]), 64)


if __name__ == "__main__":
    import tap
    tap.main()
