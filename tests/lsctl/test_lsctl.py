# SPDX-License-Identifier: GPL-2.0-or-later
#
# Here: lsctl's command line, and how it finds a device in an invented sysfs.
# Not here: what it does with a device that answers (test_commands.c).
# Standard: docs/control.md; register offsets of include/lockstep/control_regs.h.
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import tap

LSCTL = pathlib.Path(os.environ["LOCKSTEP_BUILD"]) / "images/lsctl/lsctl"

ID, VERSION, WINDOW, EXIT, WATCHDOG, PET = 0x00, 0x04, 0x08, 0x24, 0x2c, 0x30
ID_VALUE, WINDOW_SIZE = 0x4354534c, 65536
UNTOUCHED = 0xdeadbeef


class LsctlTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.devices = self.root / "sys/bus/pci/devices"
        self.devices.mkdir(parents=True)
        (self.root / "run").mkdir()
        self.add_device("0000:00:01.0", vendor="0x8086", device="0x10d3")

    def add_device(self, address, vendor="0x1af4", device="0x10f0", enable="1", version=1,
                   identity=ID_VALUE, window=WINDOW_SIZE):
        path = self.devices / address
        path.mkdir()
        (path / "vendor").write_text(vendor + "\n")
        (path / "device").write_text(device + "\n")
        (path / "enable").write_text(enable + "\n")
        registers = bytearray(4096)
        struct.pack_into("<III", registers, ID, identity, version, window)
        struct.pack_into("<I", registers, EXIT, UNTOUCHED)
        (path / "resource0").write_bytes(registers)
        (path / "resource2").write_bytes(bytes(WINDOW_SIZE))
        return path

    def register(self, device, offset):
        return struct.unpack_from("<I", (device / "resource0").read_bytes(), offset)[0]

    def wait_for_register(self, device, offset, value):
        for _ in range(500):
            if self.register(device, offset) == value:
                return
            time.sleep(0.01)
        self.fail(f"register {offset:#x} is not {value:#x}")

    def environment(self):
        return {"LSCTL_ROOT": str(self.root)}

    def lsctl(self, *arguments, **options):
        return subprocess.run([LSCTL, *arguments], env=self.environment(), text=True,
                              capture_output=True, check=False, timeout=20, **options)

    def assert_fails(self, result, status, *parts):
        self.assertEqual((result.returncode, result.stdout), (status, ""))
        for part in parts:
            self.assertIn(part, result.stderr)

    def stop_petting(self, device):
        with open(device / "resource0", "r+b") as registers:
            registers.seek(WATCHDOG)
            registers.write(bytes(4))

    def test_help_names_every_verb(self):
        result = self.lsctl("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for verb in ("exit", "mark", "put", "get", "list", "watchdog"):
            self.assertIn(f"lsctl {verb}", result.stdout)

    def test_no_verb_is_wrong_usage(self):
        self.assert_fails(self.lsctl(), 2, "usage:")

    def test_unknown_verb_is_named(self):
        self.assert_fails(self.lsctl("reboot"), 2, "unknown verb 'reboot'", "usage:")

    def test_wrong_number_of_arguments(self):
        for arguments in (["exit"], ["exit", "1", "2"], ["mark", "begin"], ["put"], ["get"],
                          ["get", "a", "b"], ["list", "a"], ["watchdog"]):
            with self.subTest(arguments=arguments):
                self.assert_fails(self.lsctl(*arguments), 2, arguments[0], "needed")

    def test_exit_status_that_is_none(self):
        for value in ("256", "-1", "+1", "", " 1", "1 ", "1x", "0x1", "99999999999999999999"):
            with self.subTest(value=value):
                self.assert_fails(self.lsctl("exit", value), 2, f"'{value}'", "0 to 255")

    def test_watchdog_seconds_that_are_none(self):
        for value in ("86401", "-1", "1.5", "ten", ""):
            with self.subTest(value=value):
                self.assert_fails(self.lsctl("watchdog", value), 2, f"'{value}'", "0 to 86400")

    def test_mark_phase_that_is_none(self):
        self.assert_fails(self.lsctl("mark", "middle", "x"), 2, "'middle'", "begin or end")

    def test_no_device_has_its_own_status(self):
        for arguments in (["exit", "0"], ["mark", "begin", "x"], ["put", "x"], ["get", "x"],
                          ["list"], ["watchdog", "1"]):
            with self.subTest(arguments=arguments):
                self.assert_fails(self.lsctl(*arguments, stdin=subprocess.DEVNULL), 3,
                                  "no run-control device", "1af4:10f0", str(self.devices))

    def test_machine_without_pci(self):
        os.rename(self.devices, self.devices.with_name("gone"))
        self.assert_fails(self.lsctl("list"), 3, "no run-control device")

    def test_machine_without_run_directory(self):
        os.rmdir(self.root / "run")
        self.assert_fails(self.lsctl("list"), 1, "run/lsctl.lock", "No such file")

    def test_device_without_resource_file(self):
        device = self.add_device("0000:00:10.0")
        (device / "resource2").unlink()
        self.assert_fails(self.lsctl("list"), 1, "resource2", "No such file")

    def test_device_of_other_version_or_kind(self):
        for number, change in enumerate(({"version": 2}, {"identity": 0xffffffff},
                                         {"window": 4096})):
            with self.subTest(change=change):
                device = self.add_device(f"0000:00:10.{number}", **change)
                self.assert_fails(self.lsctl("list"), 1, "another version")
                os.rename(device, self.root / f"old{number}")

    def test_device_is_enabled_when_it_is_not(self):
        device = self.add_device("0000:00:10.0", enable="0")
        self.assertEqual(self.lsctl("watchdog", "0").returncode, 0)
        self.assertEqual((device / "enable").read_text()[0], "1")

    def test_device_is_left_enabled(self):
        device = self.add_device("0000:00:10.0", enable="2")
        self.assertEqual(self.lsctl("watchdog", "0").returncode, 0)
        self.assertEqual((device / "enable").read_text(), "2\n")

    def test_closed_stream_is_an_error_not_an_empty_blob(self):
        self.add_device("0000:00:10.0")
        for words, stream in ((("put", "x"), 0), (("get", "x"), 1), (("list",), 1)):
            with self.subTest(words=words):
                done = subprocess.run([LSCTL, *words], env=self.environment(), stderr=subprocess.PIPE, text=True,
                                      check=False, timeout=20, preexec_fn=lambda fd=stream: os.close(fd))
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"standard {'input' if stream == 0 else 'output'} is closed", done.stderr)

    def test_exit_writes_its_status(self):
        for status in (0, 7, 255):
            with self.subTest(status=status):
                device = self.add_device(f"0000:00:10.{status % 8}")
                process = subprocess.Popen([LSCTL, "exit", str(status)], env=self.environment(),
                                           stderr=subprocess.PIPE, text=True)
                # The files do not end the run: lsctl sees that and says so.
                message = process.communicate(timeout=20)[1]
                self.assertEqual(self.register(device, EXIT), status)
                self.assertEqual(process.returncode, 1)
                self.assertIn("exit: the device has not done it", message)
                os.rename(device, self.root / f"old{status}")

    def test_watchdog_pets_in_background(self):
        device = self.add_device("0000:00:10.0")
        result = self.lsctl("watchdog", "1")
        self.addCleanup(self.stop_petting, device)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(self.register(device, WATCHDOG), 1000)
        self.wait_for_register(device, PET, 1)

    def test_watchdog_set_again_has_one_petting_process(self):
        device = self.add_device("0000:00:10.0")
        self.addCleanup(self.stop_petting, device)
        self.assertEqual(self.lsctl("watchdog", "3600").returncode, 0)
        self.wait_for_register(device, PET, 1)
        self.assertEqual(self.lsctl("watchdog", "1").returncode, 0)
        # The second pets every third of a second, the first would every 20 minutes.
        for _ in range(2):
            with open(device / "resource0", "r+b") as registers:
                registers.seek(PET)
                registers.write(bytes(4))
            self.wait_for_register(device, PET, 1)
        self.assertEqual(len(self.petting_processes()), 1)

    def test_watchdog_off_ends_petting(self):
        device = self.add_device("0000:00:10.0")
        self.assertEqual(self.lsctl("watchdog", "1").returncode, 0)
        self.wait_for_register(device, PET, 1)
        self.assertEqual(self.lsctl("watchdog", "0").returncode, 0)
        for _ in range(500):
            if not self.petting_processes():
                return
            time.sleep(0.01)
        self.fail("it still pets")

    def petting_processes(self):
        """The lsctl processes that have this test's device mapped."""
        found = []
        for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
            try:
                if str(self.root) in maps.read_text():
                    found.append(int(maps.parent.name))
            except OSError:
                pass
        return found

    def test_callers_take_turns(self):
        device = self.add_device("0000:00:10.0")
        reader, writer = os.pipe()
        first = subprocess.Popen([LSCTL, "put", "slow"], env=self.environment(), stdin=reader)
        os.close(reader)
        self.addCleanup(os.close, writer)
        self.addCleanup(first.wait)
        self.addCleanup(first.send_signal, signal.SIGKILL)
        command = 0x0c
        self.wait_for_register(device, command, 3)
        # A mark goes between; a second transfer has to wait for the first.
        self.assertEqual(self.lsctl("mark", "begin", "x").returncode, 0)
        second = subprocess.Popen([LSCTL, "list"], env=self.environment(),
                                  stdout=subprocess.DEVNULL)
        with self.assertRaises(subprocess.TimeoutExpired):
            second.wait(timeout=0.3)
        self.assertEqual(self.register(device, command), 1)
        second.kill()
        second.wait()


if __name__ == "__main__":
    tap.main()
