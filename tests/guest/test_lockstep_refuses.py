# SPDX-License-Identifier: GPL-2.0-or-later
"""What lockstep mode refuses, and that the message names the option to change."""
import os
import subprocess
import tempfile
import unittest

from guestlib import testbed
from lockstep import machine, paths

ACCEL = "tcg,lockstep=on"
RTC = ["-rtc", "base=2025-01-01T00:00:00,clock=vm"]
CPU = ["-cpu", machine.LOCKSTEP_CPU]

# accelerator options, what the message must name
BAD_OPTIONS = [
    ("lockstep=on,lockstep-quantum=99", "lockstep-quantum=99: 100 to 65535 ns"),
    ("lockstep=on,lockstep-quantum=65536", "lockstep-quantum=65536: 100 to 65535 ns"),
    ("lockstep=on,lockstep-quantum=x", "lockstep-quantum"),
    ("lockstep=on,lockstep-rate=0", "lockstep-rate=0: instructions per ns as N or N/M"),
    ("lockstep=on,lockstep-rate=17", "lockstep-rate=17"),
    ("lockstep=on,lockstep-rate=1/0", "lockstep-rate=1/0"),
    ("lockstep=on,lockstep-rate=1/2/3", "lockstep-rate=1/2/3"),
    ("lockstep=on,lockstep-quantum=65535,lockstep-rate=2", "lockstep-quantum=65535 with lockstep-rate=2/1"),
    ("lockstep=on,lockstep-quantum=100,lockstep-rate=1/2", "lockstep-quantum=100 with lockstep-rate=1/2"),
    ("lockstep=on,lockstep-pause=0", "lockstep-pause=0: 1 to 10000 ns"),
    ("lockstep=on,lockstep-pause=10001", "lockstep-pause=10001"),
    ("lockstep=on,lockstep-seed=-1", "lockstep-seed"),
    ("lockstep=on,lockstep-seed=9223372036854775808", "lockstep-seed=9223372036854775808"),
    ("lockstep=on,lockstep-hash-rounds=0", "lockstep-hash-rounds=0: 1 to"),
    ("lockstep=on,lockstep-hash-log=/nonexistent/log", "lockstep-hash-log=/nonexistent/log"),
    ("lockstep=on,lockstep-hash-log=", "lockstep-hash-log"),
    ("lockstep-quantum=1000", "lockstep-quantum needs lockstep=on"),
    ("lockstep=maybe", "lockstep"),
    ("thread=multi,lockstep=on", "leave out thread=multi"),
    ("lockstep=on,thread=multi", "leave out thread=multi"),
]

# name of the case, QEMU's arguments, what the message must name
BAD_MACHINES = [
    ("icount", [*RTC, *CPU, "-icount", "shift=0"], "leave out -icount"),
    ("iothread", [*RTC, *CPU, "-object", "iothread,id=io1"], "-object iothread,id=io1"),
    ("hotplug", [*RTC, *CPU, "-smp", "2,maxcpus=4"], "set maxcpus=2"),
    ("mwait", [*RTC, "-cpu", "max"], "add ',-monitor' to -cpu"),
    ("rtc of the host", [*CPU, "-rtc", "base=2025-01-01T00:00:00,clock=host"], "-rtc clock=host"),
    ("rtc in real time", [*CPU, "-rtc", "base=2025-01-01T00:00:00,clock=rt"], "-rtc clock=rt"),
    ("rtc without a date", [*CPU, "-rtc", "clock=vm"], "-rtc base=utc"),
    ("hpet", [*RTC, *CPU, "-M", "hpet=on"], "set hpet=off"),
    ("user netdev", [*RTC, *CPU, "-netdev", "user,id=n0"], "-netdev user,id=n0"),
    ("socket netdev", [*RTC, *CPU, "-netdev", "socket,id=n0,udp=127.0.0.1:9,localaddr=127.0.0.1:0"],
     "-netdev socket,id=n0"),
    ("random numbers of the host", [*RTC, *CPU, "-object", "rng-random,id=r0,filename=/dev/urandom"],
     "-object rng-random,id=r0"),
]


def qemu(accel, *words):
    """QEMU stopped before its first instruction; it must end by itself."""
    argv = [paths.QEMU, *machine.firmware_options(), "-M", "q35,hpet=off", "-nodefaults", "-display", "none", "-S",
            "-accel", accel, *words]
    return subprocess.run(list(map(str, argv)), capture_output=True, text=True, timeout=20, check=False)


class Refusals(unittest.TestCase):
    def refused(self, done, names):
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(names, done.stderr)

    def test_wrong_values_of_options_name_option_value_and_what_is_allowed(self):
        for words, names in BAD_OPTIONS:
            with self.subTest(words):
                self.refused(qemu("tcg," + words, *RTC, *CPU), names)

    def test_parts_of_the_machine_that_the_host_would_show_through_are_named(self):
        for name, words, names in BAD_MACHINES:
            with self.subTest(name):
                self.refused(qemu(ACCEL, *words), names)

    def test_block_driver_that_completes_in_a_thread_is_named(self):
        with tempfile.NamedTemporaryFile() as disk:
            os.truncate(disk.fileno(), 1 << 20)
            self.refused(qemu(ACCEL, *RTC, *CPU, "-blockdev", f"driver=file,node-name=d0,filename={disk.name}",
                              "-device", "virtio-blk-pci,drive=d0"), "-blockdev driver=file,node-name=d0")

    def test_kvm_has_no_such_option(self):
        self.refused(qemu("kvm,lockstep=on"), "lockstep")


class TestbedOptions(unittest.TestCase):
    def test_options_that_cannot_be_had_together_are_named(self):
        for words, names in [
                (["--quantum", 1000], "--quantum needs --lockstep"),
                (["--seed", 1], "--seed needs --lockstep"),
                (["--hash-log", "x"], "--hash-log needs --lockstep"),
                (["--lockstep", "--accel", "kvm"], "--accel kvm"),
                (["--lockstep", "--nic", "e1000e"], "--nic e1000e"),
                (["--lockstep", "--block-size", 4096], "--block-size 4096"),
                (["--lockstep", "--config", __file__], "--config")]:
            with self.subTest(words):
                done = testbed("boot", "--batch", *words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(names, done.stderr)

    def test_values_out_of_range_are_wrong_usage(self):
        for words in (["--quantum", 99], ["--rate", "1/0"], ["--pause", 0], ["--seed", "x"], ["--hash-rounds", 0]):
            with self.subTest(words):
                done = testbed("boot", "--batch", "--lockstep", *words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(words[0], done.stderr)


if __name__ == "__main__":
    import tap
    tap.main()
