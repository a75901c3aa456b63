# SPDX-License-Identifier: GPL-2.0-or-later
"""target-sim --zoned: zones by flag, file and control socket; what outlives the process.

What zones do is tested in tests/unit (test_zone.c, test_zoned.c). Numbers are those of the Zoned
Namespace Command Set 1.1.
"""
import contextlib
import signal
import struct

import tap
from harness import CONFIG, Case, Control, Daemon, changed

SEND, RECEIVE, APPEND = 0x79, 0x7A, 0x7D
EMPTY, IMPLICITLY_OPEN, CLOSED, READ_ONLY, FULL, OFFLINE = 1, 2, 4, 0xD, 0xE, 0xF
RESET = 4
ZONE = 2048                  # blocks of 512 bytes: 1 MiB
ZONED = "size=1M,capacity=768K,max_open=2,max_active=4"
NORMAL = "size=1048576,capacity=786432,max_open=2,max_active=4"
GENERATED = "subsystems/nqn.2026-01.org.lockstep:subsystem1/namespaces/1"


def zones(host, nsid=1, count=8):
    """State and write pointer, less the zone's start, of the first zones."""
    report = host.io.command(RECEIVE, nsid, b"", struct.pack("<QII", 0, (64 + 64 * count) // 4 - 1, 0),
                             read_length=64 + 64 * count)[1]
    result = []
    for at in range(64, len(report), 64):
        state, zslba, pointer = struct.unpack_from("<xB14xQQ", report, at)
        result.append((state >> 4, pointer - zslba))
    return result


def send(host, zone, action):
    host.io.command(SEND, 1, b"", struct.pack("<QII", zone * ZONE, 0, action))


class Zoned(Case):
    @contextlib.contextmanager
    def controlled(self, *arguments):
        path = self.folder / "control"
        with self.serving(*arguments, "--control", path) as daemon:
            yield daemon, Control(path)

    def test_zones_by_flag(self):
        with self.serving("--size", "8M", "--zoned", ZONED) as daemon, daemon.controller(csi=True) as host:
            host.io.write(1, 0, b"a" * 4096)
            lba = host.io.command(APPEND, 1, b"b" * 4096, struct.pack("<QI", 0, 7))[0]
            self.assertEqual(lba, 8)
            self.assertEqual(host.io.read(1, 0, 8192), b"a" * 4096 + b"b" * 4096)
            self.assertEqual(zones(host)[:2], [(IMPLICITLY_OPEN, 16), (EMPTY, 0)])
            # Zone Invalid Write: command specific, BCh.
            with self.assertRaisesRegex(OSError, "1bc"):
                host.io.write(1, 0, b"a" * 512)
            send(host, 0, RESET)
            self.assertEqual(host.io.read(1, 0, 8192), bytes(8192))

    def test_zones_outlive_the_process_with_a_file(self):
        arguments = "--size", "8M", "--backend", f"file:{self.folder}", "--zoned", ZONED
        daemon = Daemon(self.folder, *arguments)
        with daemon.controller(csi=True) as host:
            host.io.write(1, 0, b"a" * 4096)
            host.io.write(1, 3 * ZONE, b"b" * 512)
            send(host, 5, 2)
            send(host, 6, 3)
        daemon.end(signal.SIGKILL)
        with self.serving(*arguments) as daemon, daemon.controller(csi=True) as host:
            # None is open any more; one that was only opened is empty again.
            self.assertEqual([state for state, _ in zones(host)],
                             [CLOSED, EMPTY, EMPTY, CLOSED, EMPTY, FULL, EMPTY, EMPTY])
            host.io.write(1, 8, b"c" * 512)
            self.assertEqual(host.io.read(1, 0, 4608), b"a" * 4096 + b"c" * 512)

    def test_zones_that_do_not_fit(self):
        rest = "; this one has 8388608 bytes"
        self.refused(2, f"subsystems[0].namespaces[0]: zoned: 'size=3145728,capacity=3145728' is not "
                     f"allowed: a namespace of 1 to 262144 whole zones{rest}",
                     "--size", "8M", "--zoned", "size=3M")
        self.refused(2, '--zoned: wrong value "size=1M,capacity=2M"; allowed: capacity up to size, which is '
                     '1048576', "--zoned", "size=1M,capacity=2M")
        arguments = "--size", "8M", "--backend", f"file:{self.folder}", "--zoned"
        with self.serving(*arguments, "size=1M"):
            pass
        file = f"{self.folder}/subsystem1-namespace1.img.zones"
        self.refused(2, f"subsystems[0].namespaces[0]: {file}: file has 168 bytes; allowed: 104, for such "
                     "zones, or no file", *arguments, "size=2M")
        self.refused(2, "subsystems[0].namespaces[0]: zoned: 'size=1048576,capacity=524288' is not allowed: "
                     "was kept for zones of another size or number; allowed: the same",
                     *arguments, "size=1M,capacity=512K")

    def test_zones_by_file(self):
        def zoned(config):
            config["subsystems"][0]["namespaces"] = [
                {"nsid": 1, "device": {"path": "ram:8M"}, "lockstep": {"zoned": ZONED}}]

        path = self.write_config(changed(zoned))
        with self.controlled("--config", path) as (daemon, control), daemon.controller(csi=True) as host:
            self.assertEqual(len(zones(host)), 8)
            dump = control.dump()["subsystems"][0]["namespaces"][0]
            self.assertEqual(dump["lockstep"]["zoned"], NORMAL)

    def test_zones_by_control(self):
        nqn = CONFIG["subsystems"][0]["nqn"]
        new = f"subsystems/{nqn}/namespaces/7"
        with self.controlled("--config", self.write_config(CONFIG)) as (daemon, control):
            control.run("mkdir", new)
            self.assertEqual(control.get(f"{new}/lockstep_zoned"), "none")
            control.set(f"{new}/device_path", "ram:8M")
            control.set(f"{new}/lockstep_zoned", ZONED)
            control.set(f"{new}/enable", "1")
            self.assertEqual(control.get(f"{new}/lockstep_zoned"), NORMAL)
            with daemon.controller(csi=True) as host:
                self.assertEqual(zones(host, 7), 8 * [(EMPTY, 0)])
            self.assertIn("only before enable is 1", control.refused("set", f"{new}/lockstep_zoned", "none"))
            self.assertIn("keeps 8388608 bytes", control.refused("set", f"{new}/device_size", "16M"))

    def test_zones_that_break(self):
        with self.controlled("--size", "8M", "--zoned", ZONED) as (daemon, control), \
                daemon.controller(csi=True) as host:
            control.set(f"{GENERATED}/lockstep_zone_state", "1 read-only")
            control.set(f"{GENERATED}/lockstep_zone_state", "2 offline")
            control.set(f"{GENERATED}/lockstep_zone_state", "3 full")
            self.assertEqual([state for state, _ in zones(host)[:4]], [EMPTY, READ_ONLY, OFFLINE, FULL])
            # Zone Is Read Only, Zone Is Offline.
            with self.assertRaisesRegex(OSError, "1ba"):
                host.io.write(1, ZONE, bytes(512))
            with self.assertRaisesRegex(OSError, "1bb"):
                host.io.read(1, 2 * ZONE, 512)
            for value, allowed in (("8 full", "0 to 7"), ("1 empty", "full, read-only, offline"),
                                   ("x full", "a zone's number"), ("1", "a zone's number")):
                self.assertIn(allowed, control.refused("set", f"{GENERATED}/lockstep_zone_state", value))


if __name__ == "__main__":
    tap.main()
