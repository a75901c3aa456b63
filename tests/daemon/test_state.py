# SPDX-License-Identifier: GPL-2.0-or-later
"""Two hosts and a reservation on a running target-sim, and what outlives a restart.

NVMe base specification 2.0, 7.2 to 7.5 and 8.19; statuses have DNR (bit 14) set.
"""
import signal
import struct

import initiator
import tap
from harness import Case, Control, Daemon

REGISTER, REPORT, ACQUIRE, RELEASE = 0x0D, 0x0E, 0x11, 0x15
PTPL = 3 << 30  # CPTPL of Register
WRITE_EXCLUSIVE, EXCLUSIVE_ACCESS = 1 << 8, 2 << 8
CONFLICT, INVALID_FIELD = "status 0x4083", "status 0x4002"


def reservation(host, opcode, cdw10, first, second=None):
    data = struct.pack("<Q", first) + (b"" if second is None else struct.pack("<Q", second))
    host.io.command(opcode, 1, data, struct.pack("<I", cdw10), in_capsule=True)


def report(host, length=192):
    """Generation, type, PTPLS and {host identifier: (holds it, key)}."""
    data = host.io.command(REPORT, 1, b"", struct.pack("<II", length // 4 - 1, 1), read_length=length)[1]
    generation, kind, count, ptpls = struct.unpack_from("<IBH2xB", data)
    registrants = {}
    for at in range(64, 64 + 64 * count, 64):
        cntlid, holds, key = struct.unpack_from("<HB5xQ", data, at)
        assert cntlid == 0xFFFF
        registrants[data[at + 16:at + 32]] = (holds, key)
    return generation, kind, ptpls, registrants


class Reservations(Case):
    def options(self, *more):
        return "--size", "1M", "--resv-enable", 1, *more

    def test_two_hosts_and_a_write_exclusive_reservation(self):
        with self.serving(*self.options()) as daemon, daemon.controller(0) as a, daemon.controller(1) as b:
            reservation(a, REGISTER, 0, 0, 0xA)
            reservation(b, REGISTER, 0, 0, 0xB)
            reservation(a, ACQUIRE, WRITE_EXCLUSIVE, 0xA, 0)
            a.io.write(1, 0, b"a" * 512)
            with self.assertRaisesRegex(OSError, CONFLICT):
                b.io.write(1, 0, b"b" * 512)
            with self.assertRaisesRegex(OSError, CONFLICT):
                b.io.write(1, 0, b"b" * 512, in_capsule=True)
            self.assertEqual(b.io.read(1, 0, 512), b"a" * 512)
            self.assertEqual(report(b), (2, 1, 0, {initiator.host_id(0): (1, 0xA),
                                                   initiator.host_id(1): (0, 0xB)}))
            reservation(b, ACQUIRE, 1 | EXCLUSIVE_ACCESS, 0xB, 0xA)
            with self.assertRaisesRegex(OSError, CONFLICT):
                a.io.read(1, 0, 512)
            # Reservation Notification: registration preempted, namespace 1.
            page = a.admin.command(0x02, 0xFFFFFFFF, b"", struct.pack("<I", 0x80 | 15 << 16), read_length=64)[1]
            self.assertEqual(struct.unpack_from("<QBBxxI", page), (1, 1, 0, 1))
            reservation(b, RELEASE, EXCLUSIVE_ACCESS, 0xB)
            self.assertEqual(a.io.read(1, 0, 512), b"a" * 512)

    def test_a_reservation_without_state_folder_does_not_persist(self):
        with self.serving(*self.options()) as daemon, daemon.controller() as a:
            with self.assertRaisesRegex(OSError, INVALID_FIELD):
                reservation(a, REGISTER, PTPL, 0, 0xA)

    def test_a_reservation_outlives_kill_9(self):
        state = self.folder / "state"
        state.mkdir()
        daemon = Daemon(self.folder, *self.options("--state", state))
        with daemon.controller(0) as a:
            reservation(a, REGISTER, PTPL, 0, 0xA)
            reservation(a, ACQUIRE, EXCLUSIVE_ACCESS, 0xA, 0)
            self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
        with self.serving(*self.options("--state", state)) as daemon, \
                daemon.controller(0) as a, daemon.controller(1) as b:
            self.assertEqual(report(b), (0, 2, 1, {initiator.host_id(0): (1, 0xA)}))
            with self.assertRaisesRegex(OSError, CONFLICT):
                b.io.read(1, 0, 512)
            a.io.write(1, 0, b"a" * 512)
            reservation(a, REGISTER, 1 | 2 << 30, 0xA, 0)
            self.assertEqual(list(state.iterdir()), [])


class State(Case):
    def test_a_folder_that_is_none_is_named(self):
        missing, file = self.folder / "missing", self.folder / "file"
        file.write_text("")
        file.chmod(0o700)
        self.refused(1, f"--state: {missing}: No such file or directory", "--paths", 1, "--state", missing)
        self.refused(2, f'--state: wrong value "{file}"; allowed: a folder', "--paths", 1, "--state", file)

    def test_a_file_that_is_wrong_is_not_taken_for_none(self):
        file = self.folder / "nqn.2026-01.org.lockstep:subsystem1-1.state"
        file.write_text("lockstep namespace 1\nptpl 1\nreservation 9\n")
        self.refused(2, "subsystems[0].namespaces[0]: the state that was kept: line 3: 'reservation 9' is not "
                     "allowed: ptpl 1, then reservation TYPE, then registrant HOSTID KEY [holder]",
                     "--size", "1M", "--resv-enable", 1, "--state", self.folder)
        file.unlink()
        file.mkdir()
        self.refused(1, f"subsystems[0].namespaces[0]: --state: {file}: Is a directory",
                     "--size", "1M", "--resv-enable", 1, "--state", self.folder)

    def test_a_namespace_that_is_removed_leaves_nothing(self):
        control = Control(self.folder / "control")
        space = "subsystems/nqn.2026-01.org.lockstep:subsystem1/namespaces/1"
        with self.serving("--size", "1M", "--resv-enable", 1, "--state", self.folder, "--control", control.path) as \
                daemon, daemon.controller() as a:
            self.assertEqual(control.get(f"{space}/resv_enable"), "1")
            self.assertEqual(control.refused("set", f"{space}/resv_enable", "0"),
                             f"{space}/resv_enable: resv_enable: '0' is not allowed: namespace 1 is enabled")
            reservation(a, REGISTER, PTPL, 0, 0xA)
            self.assertEqual(len(list(self.folder.glob("*.state"))), 1)
            self.assertEqual(control.dump()["subsystems"][0]["namespaces"][0]["resv"], {"enable": "1"})
            control.run("rmdir", space)
            self.assertEqual(list(self.folder.glob("*.state*")), [])


if __name__ == "__main__":
    tap.main()
