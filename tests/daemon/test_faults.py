# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults from the configuration file, through sockets: what a host sees, also of TCP itself.

What each fault puts on the wire is tested in memory (tests/unit/test_fault.c); here is what the daemon
adds: reading the rules, closing with a reset, playing dead, timers.
"""
import contextlib
import json
import pathlib
import re
import struct
import time

from harness import Case, changed, run, wait_for
from initiator import FABRICS, FLUSH, capsule, handshake, receive, sqe


def with_faults(*faults):
    return changed(lambda config: config.update(faults=list(faults)))


class FaultCase(Case):
    @contextlib.contextmanager
    def faulty(self, *faults):
        with self.serving("--config", self.write_config(with_faults(*faults))) as daemon:
            yield daemon


class Faults(FaultCase):
    def flush(self, queue, cid=100):
        queue.sock.sendall(capsule(sqe(FLUSH, cid, 1, 0, b"", False)))

    def test_status_of_a_read(self):
        rule = {"pdu": "capsule-cmd", "queue": "io", "opcode": 2, "lba_first": 8, "lba_last": "15",
                "action": "status", "status": "0x281"}
        with self.faulty(rule) as daemon, daemon.controller() as host:
            self.assertEqual(host.io.read(1, 0, 4096), bytes(4096))
            with self.assertRaisesRegex(OSError, "status 0x281"):
                host.io.read(1, 12, 512)
            self.assertEqual(host.io.read(1, 16, 512), bytes(512))

    def test_delay_is_waited_for(self):
        rule = {"pdu": "capsule-resp", "opcode": 0, "queue": "io", "action": "delay", "us": 200000}
        with self.faulty(rule) as daemon, daemon.controller() as host:
            began = time.monotonic()
            host.io.command(FLUSH, 1, b"", b"")
            self.assertGreaterEqual(time.monotonic() - began, 0.2)

    def test_stall_then_all_at_once(self):
        rule = {"pdu": "capsule-resp", "opcode": 0, "queue": "io", "nth": 1, "action": "stall", "us": 200000}
        with self.faulty(rule) as daemon, daemon.controller() as host:
            began = time.monotonic()
            for cid in range(3):
                self.flush(host.io, cid)
            answer = receive(host.io.sock, 3 * 24)
            self.assertGreaterEqual(time.monotonic() - began, 0.2)
            self.assertEqual([struct.unpack_from("<H", answer, at + 20)[0] for at in (0, 24, 48)], [0, 1, 2])

    def test_close_ends_the_stream_where_it_was_cut(self):
        cut = {"pdu": "capsule-resp", "opcode": 0, "queue": "io", "action": "truncate", "bytes": 10}
        close = {"pdu": "capsule-resp", "opcode": 0, "queue": "io", "action": "close"}
        with self.faulty(cut, close) as daemon, daemon.controller() as host:
            self.flush(host.io)
            self.assertEqual(receive(host.io.sock, 24)[:4], bytes([5, 0, 24, 0]))
            self.assertEqual(receive(host.io.sock, 1), b"")

    def test_rst_is_a_reset(self):
        rule = {"pdu": "capsule-cmd", "opcode": 0, "queue": "io", "action": "rst"}
        with self.faulty(rule) as daemon, daemon.controller() as host:
            self.flush(host.io)
            with self.assertRaises(ConnectionResetError):
                receive(host.io.sock, 1)
            # Only that queue: the Admin queue still answers a Property Get of VS (8h).
            dword0, _ = host.admin.command(FABRICS, 4, b"", struct.pack("<B3xI", 0, 8))
            self.assertEqual(dword0, 0x20000)

    def test_half_open_takes_no_data(self):
        rule = {"pdu": "capsule-cmd", "opcode": 0, "queue": "io", "action": "half-open", "us": 2000000}
        with self.faulty(rule) as daemon:
            before = daemon.descriptors()
            with daemon.controller() as host:
                self.flush(host.io)
                host.io.sock.settimeout(0.3)
                with self.assertRaises(TimeoutError):
                    receive(host.io.sock, 1)
                # Nobody reads: what the kernels take between them is all that can be sent.
                with self.assertRaises(TimeoutError):
                    host.io.sock.sendall(bytes(64 << 20))
            # The host's FIN waits behind these data, so only the rule's time ends it.
            wait_for(lambda: daemon.descriptors() == before, "half-open connection closed")

    def test_half_open_notices_that_the_host_is_gone(self):
        rule = {"pdu": "capsule-cmd", "opcode": 0, "queue": "io", "action": "half-open"}
        with self.faulty(rule) as daemon:
            before = daemon.descriptors()
            with daemon.controller() as host:
                self.flush(host.io)
            wait_for(lambda: daemon.descriptors() == before, "half-open connection closed")

    def test_half_open_ends_by_itself(self):
        rule = {"pdu": "icreq", "action": "half-open", "us": 100000, "limit": 1}
        with self.faulty(rule) as daemon:
            with daemon.connect() as sock:
                self.assertEqual(handshake(sock), b"")
            with daemon.connect() as sock:
                self.assertEqual(len(handshake(sock)), 128)

    def test_terminate(self):
        rule = {"pdu": "capsule-cmd", "opcode": "0", "queue": "io", "action": "term", "fes": 5, "fei": 7}
        with self.faulty(rule) as daemon, daemon.controller() as host:
            self.flush(host.io)
            self.assertEqual(struct.unpack("<BBBBIHI10x", receive(host.io.sock, 24)),
                             (3, 0, 24, 0, 24, 5, 7))

    def test_rule_that_is_off(self):
        rule = {"name": "later", "pdu": "icreq", "action": "close", "enable": 0}
        with self.faulty(rule) as daemon, daemon.connect() as sock:
            self.assertEqual(len(handshake(sock)), 128)

    def test_faults_are_in_the_log(self):
        rule = {"name": "no flush", "pdu": "capsule-cmd", "opcode": 0, "queue": "io", "action": "status",
                "status": 6}
        with self.faulty(rule) as daemon, daemon.controller() as host:
            with self.assertRaisesRegex(OSError, "status 0x6"):
                host.io.command(FLUSH, 1, b"", b"")
        self.assertIn('fault connection=2 cntlid=1 qid=1 pdu=0x4 count=0x1 "no flush"', daemon.log)


class Manual(FaultCase):
    TEXT = (pathlib.Path(__file__).resolve().parents[2] / "docs/faults.md").read_text()

    def test_every_rule_of_the_manual_is_taken(self):
        rules = [json.loads(text) for text in re.findall(r"\| `(\{.*\})` \|", self.TEXT)]
        self.assertGreater(len(rules), 20)
        with self.faulty(*rules):
            pass

    def test_every_key_is_in_the_manual(self):
        path = self.write_config(with_faults({"pdu": "icreq", "action": "drop", "colour": "red"}))
        keys = run("--config", path).stderr.split("allowed keys here: ")[1].strip().split(", ")
        self.assertGreater(len(keys), 30)
        for key in keys:
            with self.subTest(key=key):
                self.assertIn(f"`{key}`", self.TEXT)


class WrongFaults(Case):
    def wrong(self, rule, message):
        path = self.write_config(with_faults({"pdu": "icreq", "action": "drop"}, rule))
        line = 1 + path.read_text().splitlines().index("    {", path.read_text().splitlines().index("    },"))
        self.refused(2, f"{path}:{line}: {message}", "--config", path)

    def test_value_that_is_none(self):
        self.wrong({"pdu": "capsule-cmd", "opcode": 300, "action": "drop"},
                   "faults[1]: opcode: '300' is not allowed: a number from 0 to 255")

    def test_missing_key(self):
        self.wrong({"pdu": "capsule-cmd", "action": "status"},
                   "faults[1]: status: missing; action 'status' needs it")

    def test_key_that_is_none(self):
        path = self.write_config(with_faults({"pdu": "icreq", "action": "drop", "colour": "red"}))
        line = 1 + path.read_text().splitlines().index('      "colour": "red"')
        result = run("--config", path)
        self.assertEqual(result.returncode, 2)
        self.assertTrue(result.stderr.startswith(
            f'target-sim: error: {path}:{line}: faults[0].colour: unknown key (its value is "red"); '
            "allowed keys here: name, port, "), result.stderr)

    def test_value_of_a_wrong_kind(self):
        path = self.write_config(with_faults({"pdu": ["icreq"], "action": "drop"}))
        result = run("--config", path)
        self.assertEqual(result.returncode, 2)
        self.assertIn("faults[0].pdu: wrong value", result.stderr)
        self.assertIn("allowed: a string or a number", result.stderr)


if __name__ == "__main__":
    import tap
    tap.main()
