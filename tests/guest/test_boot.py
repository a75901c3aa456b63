# SPDX-License-Identifier: GPL-2.0-or-later
"""`testbed boot`: the demo, the shell, and every way in which a boot can go wrong."""
import json
import os
import signal
import subprocess
import tempfile
import termios
import time
import unittest
from pathlib import Path
from unittest import mock

import guestlib
from guestlib import TESTBED, Terminal, alive, children_of, cli, testbed
from lockstep import machine, paths


class Demo(unittest.TestCase):
    def test_batch_prints_eight_live_controllers_and_verifies_four_namespaces(self):
        done = testbed("boot", env={"BATCH": "1"})
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        live = [line for line in done.stdout.splitlines() if line.endswith("live")]
        self.assertEqual(len(live), 8, done.stdout)
        self.assertEqual(done.stdout.count("verified"), 4, done.stdout)
        self.assertIn("subsystem4", done.stdout)

    def test_batch_without_digests_says_so(self):
        done = testbed("boot", "--batch", "--no-digests", "--subsystems", 1, "--paths", 1, "--config", "/dev/null")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/null", done.stderr)
        done = testbed("boot", "--batch", "--no-digests", "--subsystems", 1, "--paths", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("all data verified, header and data digests off", done.stderr)

    def test_batch_with_other_shape_on_e1000e_and_4096_byte_blocks(self):
        done = testbed("boot", "--batch", "--subsystems", 2, "--paths", 3, "--namespaces", 2, "--block-size", 4096,
                       "--size", "64M", "--nic", "e1000e", "--cpus", 2, "--poll-queues", 1)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual(len([x for x in done.stdout.splitlines() if x.endswith("live")]), 6)
        self.assertEqual(done.stdout.count("verified"), 4)
        self.assertIn("4096 B", done.stdout)


class Shell(unittest.TestCase):
    def setUp(self):
        self.terminal = Terminal("boot", "--subsystems", 1, "--cpus", 2)
        self.addCleanup(self.terminal.close)
        self.before = termios.tcgetattr(self.terminal.slave)

    def assert_all_gone(self, pids):
        deadline = time.monotonic() + 5
        while any(alive(p) for p in pids) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual([p for p in pids if alive(p)], [])
        self.assertEqual(termios.tcgetattr(self.terminal.slave), self.before)

    def ready(self):
        self.terminal.wait_for("leave with exit")
        self.terminal.type("\n")
        self.terminal.wait_for("# ")
        return [pid for pid, _ in children_of(self.terminal.process.pid)]

    def test_shell_runs_commands_and_exit_restores_the_terminal(self):
        pids = self.ready()
        self.terminal.type("echo got-$((6*7))\n")
        self.terminal.wait_for("got-42")
        self.terminal.type("stty size\n")
        self.terminal.wait_for("24 80")
        self.terminal.type("exit\n")
        status, _ = self.terminal.wait()
        self.assertEqual(status, 0)
        self.assert_all_gone(pids)

    def test_control_c_goes_to_the_guest_and_not_to_testbed(self):
        self.ready()
        self.terminal.type("sleep 1000\n")
        time.sleep(1)
        self.terminal.type("\x03")
        self.terminal.type("echo still-$((1+1))\n")
        self.terminal.wait_for("still-2")
        self.terminal.type("\x1d")
        self.assertEqual(self.terminal.wait()[0], 0)

    def test_keys_while_the_guest_goes_are_no_error(self):
        self.ready()
        self.terminal.type("poweroff\n")
        try:
            while self.terminal.process.poll() is None:
                self.terminal.type("x")
                time.sleep(0.001)
        except OSError:
            pass
        self.assertEqual(self.terminal.wait()[0], 0)

    def test_guest_that_reads_no_keys_can_still_be_left(self):
        self.ready()
        qemu = [pid for pid, comm in children_of(self.terminal.process.pid) if comm.startswith("qemu")]
        os.kill(qemu[0], signal.SIGSTOP)
        for _ in range(600):        # more than the socket between holds
            self.terminal.type("x" * 1000)
        self.terminal.type("\x1d")
        self.assertEqual(self.terminal.wait()[0], 0)

    def test_poweroff_ends_with_status_0(self):
        pids = self.ready()
        self.terminal.type("poweroff\n")
        self.assertEqual(self.terminal.wait()[0], 0)
        self.assert_all_gone(pids)

    def test_guest_panic_is_reported_as_a_panic(self):
        pids = self.ready()
        self.terminal.type("echo c > /proc/sysrq-trigger\n")
        status, seen = self.terminal.wait()
        self.assertEqual(status, 1)
        self.assertIn("kernel panicked", seen)
        self.assertIn("sysrq", seen)
        self.assert_all_gone(pids)

    def test_guest_hang_is_reported_by_the_watchdog(self):
        pids = self.ready()
        self.terminal.type("lsctl watchdog 2; sleep 1; kill -STOP $(pidof lsctl)\n")
        status, seen = self.terminal.wait(60)
        self.assertEqual(status, 1)
        self.assertIn("watchdog was not served", seen)
        self.assert_all_gone(pids)

    def test_target_death_is_reported_with_its_signal(self):
        pids = self.ready()
        victim = [pid for pid, comm in children_of(self.terminal.process.pid) if comm == "target-sim"]
        os.kill(victim[0], signal.SIGKILL)
        status, seen = self.terminal.wait()
        self.assertEqual(status, 1)
        self.assertIn("target-sim was killed by signal 9", seen)
        self.assert_all_gone(pids)

    def test_qemu_death_is_reported_with_its_signal(self):
        pids = self.ready()
        victim = [pid for pid, comm in children_of(self.terminal.process.pid) if comm.startswith("qemu")]
        os.kill(victim[0], signal.SIGKILL)
        status, seen = self.terminal.wait()
        self.assertEqual(status, 1)
        self.assertIn("QEMU was killed by signal 9 while its shell was in use", seen)
        self.assert_all_gone(pids)

    def test_exit_after_a_failed_command_is_no_failure_of_testbed(self):
        self.ready()
        self.terminal.type("false\nexit 3\n")
        self.assertEqual(self.terminal.wait()[0], 0)

    def test_sigterm_ends_everything_and_restores_the_terminal(self):
        pids = self.ready()
        self.terminal.process.terminate()
        status, _ = self.terminal.wait()
        self.assertEqual(status, 130)
        self.assert_all_gone(pids)


class Trouble(unittest.TestCase):
    def test_interrupt_while_booting_leaves_no_process_and_no_folder(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-test-")
        self.addCleanup(folder.cleanup)
        proc = subprocess.Popen([TESTBED, "boot", "--batch"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, env=dict(os.environ, TMPDIR=folder.name))
        deadline = time.monotonic() + 30
        while not any(comm.startswith("qemu") for _, comm in children_of(proc.pid)):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        pids = [pid for pid, _ in children_of(proc.pid)]
        proc.send_signal(signal.SIGINT)
        output, _ = proc.communicate(timeout=20)
        self.assertEqual(proc.returncode, 130, output)
        self.assertIn("interrupted", output)
        self.assertEqual([p for p in pids if alive(p)], [])
        self.assertEqual(os.listdir(folder.name), [])

    def test_kill_9_of_testbed_leaves_no_process(self):
        proc = subprocess.Popen([TESTBED, "boot", "--batch"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not any(comm.startswith("qemu") for _, comm in children_of(proc.pid)):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        pids = [pid for pid, _ in children_of(proc.pid)]
        proc.kill()
        proc.wait()
        deadline = time.monotonic() + 5
        while any(alive(p) for p in pids) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual([p for p in pids if alive(p)], [])

    def test_guest_that_never_comes_up_is_reported_as_a_hang(self):
        with guestlib.run.Run("hang", boot_timeout=10) as session:
            # A kernel that runs, with a first process that never says a word.
            with self.assertRaises(guestlib.run.GuestError) as caught:
                guestlib.boot.start(session, guestlib.options(
                    "--append", "rdinit=/bin/sleep -- 1000000"), "demo.sh", {})
                session.wait_exit(60)
            self.assertIn("did not come up", str(caught.exception))
            session.failed = False

    def test_a_built_file_that_is_missing_is_named_with_what_to_run_and_leaves_no_results(self):
        with tempfile.TemporaryDirectory(prefix="lockstep-test-") as folder, \
                mock.patch.object(paths, "QEMU", Path(folder, "qemu")), \
                mock.patch.object(paths, "RESULTS", Path(folder, "results")):
            with self.assertRaisesRegex(machine.MachineError, f"{folder}/qemu is missing.*make setup"):
                options = cli.parser().parse_args(["run", "smoke"])
                options.run(options)
            self.assertEqual(list(Path(folder).glob("results/*/*")), [])

    def test_wrong_values_name_option_value_and_range(self):
        for words, parts in ((("--cpus", "0"), ("--cpus", "'0'", "1 to 128")),
                             (("--size", "12Q"), ("--size", "'12Q'", "64M")),
                             (("--nic", "rtl8139"), ("--nic", "rtl8139", "virtio-net-pci")),
                             (("--config", "/nonexistent.json"), ("--config", "/nonexistent.json", "no such file")),
                             (("--kernel", "/nonexistent"), ("--kernel", "/nonexistent", "no such file")),
                             (("--initrd", "/tmp"), ("--initrd", "/tmp", "a file is needed"))):
            with self.subTest(words=words):
                done = testbed("boot", *words)
                self.assertEqual(done.returncode, 2)
                for part in parts:
                    self.assertIn(part, done.stderr)

    def test_data_that_do_not_verify_are_reported_for_their_namespace(self):
        with tempfile.TemporaryDirectory(prefix="lockstep-test-") as folder:
            config = Path(folder, "null.json")
            config.write_text(json.dumps({
                "ports": [{"addr": {"adrfam": "ipv4", "traddr": "127.0.0.1", "trsvcid": 0, "trtype": "tcp"},
                           "portid": 1, "subsystems": ["nqn.2026-01.org.example:a"]}],
                # A namespace that drops what is written.
                "subsystems": [{"nqn": "nqn.2026-01.org.example:a", "attr": {"allow_any_host": 1},
                                "namespaces": [{"nsid": 1, "device": {"path": "null:64M"}}]}]}))
            done = testbed("boot", "--batch", "--config", config, env={"TMPDIR": folder})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"nvme1n1 .* FAILED")
        self.assertIn("failed: fio ended with status 1: verify: ", done.stderr)

    def test_closed_standard_streams_and_one_cpu_in_a_folder_with_a_comma(self):
        with tempfile.TemporaryDirectory(prefix="lockstep test,") as folder:
            done = subprocess.run(["sh", "-c", '"$0" "$@" <&- >&-', TESTBED, "boot", "--subsystems", "1", "--paths", "1",
                                   "--cpus", "1"], stderr=subprocess.PIPE, text=True, timeout=200,
                                  env=dict(os.environ, TMPDIR=folder))
            self.assertEqual(os.listdir(folder), [])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("all data verified", done.stderr)

    def test_reader_of_the_output_that_has_seen_enough(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([TESTBED, "list"], stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE,
                              text=True, timeout=20)
        os.close(write)
        self.assertEqual((done.returncode, done.stderr), (1, ""))

    def test_full_disk_names_the_file(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([TESTBED, "list"], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left on device: 'standard output'", done.stderr)

    def test_wrong_batch_variable_names_it(self):
        done = testbed("boot", env={"BATCH": "yes"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("BATCH=yes", done.stderr)

    def test_size_that_is_no_multiple_of_the_block_size_is_refused(self):
        done = testbed("boot", "--batch", "--size", "1000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1000", done.stderr)
        self.assertIn("512", done.stderr)


if __name__ == "__main__":
    import tap
    tap.main()
