# SPDX-License-Identifier: GPL-2.0-or-later
"""target-sim with a drive to play: requests end no earlier than it would, and none is lost.

How long each takes is tested in tests/unit/test_media.c; here a drive is chosen whose times a slow
machine cannot hide.
"""
import signal
import struct
import time

import initiator
import tap
from harness import Case, Daemon, changed, wait_for
from initiator import READ, rw_dwords

SECOND = 10 ** 9


def send_read(host, nsid, cid=0x7000):
    host.io.sock.sendall(initiator.capsule(
        initiator.sqe(READ, cid, nsid, 512, rw_dwords(0, 1), False)))


class Drives(Case):
    def test_read_takes_as_long_as_the_drive(self):
        with self.serving("--media", "null,read_ns=200000000") as daemon, daemon.controller() as host:
            start = time.monotonic()
            self.assertEqual(host.io.read(1, 0, 4096), bytes(4096))
            self.assertGreaterEqual(time.monotonic() - start, 0.2)

    def test_drives_of_two_namespaces_do_not_wait_for_each_other(self):
        def two(config):
            space = config["subsystems"][0]["namespaces"]
            space.append({"nsid": 2, "device": {"path": "ram:1M"},
                          "lockstep": {"media": f"null,read_ns={5 * SECOND}"}})

        with self.serving("--config", self.write_config(changed(two))) as daemon, \
                daemon.controller() as host:
            for nsid in 2, 1:
                send_read(host, nsid, nsid)
            # 3.6.2.10: CCCID of the first answer, at byte 8
            self.assertEqual(struct.unpack_from("<H", initiator.receive(host.io.sock, 24), 8)[0], 1)

    def test_cached_write_is_early_and_flush_is_late(self):
        media = "null,program_ns=200000000,cache=1M"
        with self.serving("--media", media) as daemon, daemon.controller() as host:
            host.io.write(1, 0, b"x" * 4096)
            start = time.monotonic()
            host.io.command(initiator.FLUSH, 1, b"", b"")
            self.assertGreater(time.monotonic() - start, 0.1)
            self.assertEqual(host.io.read(1, 0, 4096), b"x" * 4096)

    def test_host_that_goes_while_its_read_is_in_the_drive(self):
        with self.serving("--media", "null,read_ns=300000000") as daemon:
            before = daemon.descriptors()
            with daemon.controller() as host:
                send_read(host, 1)
            wait_for(lambda: daemon.descriptors() == before, "connections gone")
            with daemon.controller() as host:
                host.io.read(1, 0, 512)

    def test_end_answers_what_is_in_the_drive(self):
        daemon = Daemon(self.folder, "--media", f"null,read_ns={10 * SECOND}")
        with daemon.controller() as host:
            send_read(host, 1)
            # An answer to a later command shows that the read has arrived.
            host.io.command(initiator.FLUSH, 1, b"", b"")
            daemon.process.send_signal(signal.SIGTERM)
            header = initiator.receive(host.io.sock, 8)
            self.assertEqual((header[0], struct.unpack("<I", header[4:])[0]),
                             (initiator.C2H_DATA, 24 + 512))
        self.assertEqual(daemon.end(), 0)


if __name__ == "__main__":
    tap.main()
