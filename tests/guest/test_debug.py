# SPDX-License-Identifier: GPL-2.0-or-later
"""`testbed debug` driven without a person: a breakpoint in a module that is not loaded yet."""
import unittest

from guestlib import testbed


class Debug(unittest.TestCase):
    def test_breakpoint_in_nvme_tcp_poll_is_hit_with_symbols_and_source_lines(self):
        done = testbed("debug", "--subsystems", 1, "--paths", 1, "--break", "nvme_tcp_poll",
                       "--gdb-command", "continue", "--gdb-command", "bt 3",
                       "--gdb-command", "print hctx->queue_num", "--gdb-command", "lx-lsmod",
                       timeout=300)
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, text)
        self.assertIn("nvme_tcp_poll (hctx=", text)
        self.assertIn("drivers/nvme/host/tcp.c:", text)
        self.assertRegex(text, r"\$1 = \d+")
        self.assertIn("nvme_fabrics", text)

    def test_gdb_error_gives_its_status(self):
        done = testbed("debug", "--subsystems", 1, "--paths", 1, "--gdb-command", "print no_such_symbol_anywhere")
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    import tap
    tap.main()
