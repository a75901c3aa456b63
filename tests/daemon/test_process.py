# SPDX-License-Identifier: GPL-2.0-or-later
"""target-sim while it runs: sockets, data through it, signals, its parent.

The protocol behind the sockets is tested elsewhere; here one handshake is answered (bytes of the
NVMe/TCP specification 1.0), rubbish is survived, and data go through to a backend and back.
"""
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import initiator
from harness import TARGET_SIM, Case, Daemon, wait_for
from initiator import handshake, icreq, receive


class Sockets(Case):
    def test_icreq_is_answered_with_icresp(self):
        with self.serving("--subsystems", 1) as daemon, daemon.connect() as sock:
            answer = handshake(sock, digests=3)
            self.assertEqual(len(answer), 128)
            # 3.6.2.3: type 01h, no flags, HLEN and PLEN 128, PDO 0.
            self.assertEqual(struct.unpack_from("<BBBBI", answer), (0x01, 0, 128, 0, 128))
            version, alignment, digests, maximum = struct.unpack_from("<HBBI", answer, 8)
            self.assertEqual((version, alignment, digests), (0, 0, 3))
            self.assertGreaterEqual(maximum, 4096)
            self.assertEqual(maximum % 4, 0)
            self.assertEqual(answer[16:], bytes(112))

    def test_icreq_byte_by_byte(self):
        with self.serving("--subsystems", 1) as daemon, daemon.connect() as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in icreq():
                sock.sendall(bytes([byte]))
            self.assertEqual(receive(sock, 128)[0], 0x01)

    def test_rubbish_gets_a_termination_or_a_close(self):
        for rubbish in (b"GET / HTTP/1.0\r\n\r\n", b"\xff" * 4096, bytes(64),
                        random.Random(1).randbytes(100000)):
            with self.subTest(rubbish=rubbish[:16]), self.serving("--subsystems", 1) as daemon:
                with daemon.connect() as sock:
                    with contextlib.suppress(ConnectionError):
                        sock.sendall(rubbish)
                        sock.shutdown(socket.SHUT_WR)
                    with contextlib.suppress(ConnectionError):
                        # 3.6.2.5: a C2HTermReq, if there is an answer at all.
                        self.assertIn(receive(sock, 1), (b"", b"\x03"))
                with daemon.connect() as sock:
                    self.assertEqual(handshake(sock)[0], 0x01)

    def test_200_connections_leak_no_descriptor(self):
        with self.serving("--subsystems", 1, "--log", "warn") as daemon:
            before = daemon.descriptors()
            for number in range(200):
                with daemon.connect() as sock:
                    if number % 3 == 0:
                        handshake(sock)
                    elif number % 3 == 1:
                        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                        struct.pack("ii", 1, 0))  # a reset at the close
                        sock.sendall(icreq()[:50])
            wait_for(lambda: daemon.descriptors() == before, "all descriptors closed")

    def test_many_connections_at_once(self):
        with self.serving("--subsystems", 1, "--log", "warn") as daemon, contextlib.ExitStack() as stack:
            socks = [stack.enter_context(daemon.connect()) for _ in range(200)]
            for sock in socks:
                sock.sendall(icreq())
            for sock in socks:
                self.assertEqual(receive(sock, 128)[0], 0x01)

    def test_out_of_descriptors_does_not_spin_and_recovers(self):
        def limit():
            import resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))

        with self.serving("--subsystems", 1, preexec_fn=limit) as daemon:
            with contextlib.ExitStack() as stack:
                for _ in range(40):
                    stack.enter_context(daemon.connect())
                wait_for(lambda: daemon.descriptors() == 32, "all descriptors in use")
                before = cpu_seconds(daemon.process.pid)
                time.sleep(1)
                self.assertLess(cpu_seconds(daemon.process.pid) - before, 0.3)
            with daemon.connect() as sock:
                self.assertEqual(handshake(sock)[0], 0x01)

    def test_sigterm_and_a_new_connection_in_one_round_of_the_loop(self):
        daemon = Daemon(self.folder, "--subsystems", 1)
        # Stopped, it finds both when it goes on: the listener is ready behind its own end.
        daemon.process.send_signal(signal.SIGSTOP)
        wait_for(lambda: state(daemon.process.pid) == "T", "the stop")
        daemon.process.send_signal(signal.SIGTERM)
        with daemon.connect():
            daemon.process.send_signal(signal.SIGCONT)
            self.assertEqual(daemon.end(), 0, daemon.log)

    def test_sigterm_with_connections_open(self):
        daemon = Daemon(self.folder, "--subsystems", 1)
        with daemon.connect() as live, daemon.connect():
            handshake(live)
            began = time.monotonic()
            self.assertEqual(daemon.end(), 0)
            self.assertLess(time.monotonic() - began, 5)
            self.assertEqual(receive(live, 1), b"")


class Drain(Case):
    """After SIGTERM: nothing is accepted, what is under way ends, then all is closed."""

    def write_until_r2t(self, controller):
        entry = initiator.sqe(initiator.WRITE, 5, 1, 8192, initiator.rw_dwords(0, 16), False)
        controller.io.sock.sendall(initiator.capsule(entry))
        self.assertEqual(receive(controller.io.sock, 8)[0], initiator.R2T)
        return struct.unpack_from("<HHII", receive(controller.io.sock, 16))

    def closed(self, daemon):
        try:
            daemon.connect().close()
        except ConnectionError:
            return True
        return False

    def test_a_write_under_way_ends_and_is_answered(self):
        daemon = Daemon(self.folder, "--backend", f"file:{self.folder}", "--size", "1M", "--drain-time", 20)
        with daemon.controller() as controller, daemon.connect() as half:
            half.sendall(icreq()[:50])
            half.close()
            r2t = self.write_until_r2t(controller)
            # An AER is nothing that a host waits for.
            controller.admin.sock.sendall(initiator.capsule(initiator.sqe(0x0C, 9, 0, 0, b"", False)))
            daemon.process.send_signal(signal.SIGTERM)
            wait_for(lambda: self.closed(daemon), "no connection is accepted")
            with self.assertRaises(ConnectionRefusedError):
                daemon.connect()
            controller.io.send_data(b"d" * 8192, *r2t)
            answer = receive(controller.io.sock, 24)
            self.assertEqual(struct.unpack_from("<HH", answer, 20), (5, 0))
            self.assertEqual(receive(controller.io.sock, 1), b"")
            self.assertEqual(receive(controller.admin.sock, 1), b"")
        self.assertEqual(daemon.end(), 0)
        image = next(self.folder.glob("*.img"))
        self.assertEqual(image.read_bytes()[:8192], b"d" * 8192)

    def test_a_host_that_sends_no_data_is_waited_for_that_long_only(self):
        for seconds in (0, 1):
            daemon = Daemon(self.folder, "--size", "1M", "--drain-time", seconds)
            with daemon.controller() as controller:
                self.write_until_r2t(controller)
                began = time.monotonic()
                self.assertEqual(daemon.end(), 0)
                self.assertGreaterEqual(time.monotonic() - began, seconds * 0.9)


class Limits(Case):
    def test_connections(self):
        with self.serving("--subsystems", 1, "--max-connections", 2) as daemon:
            with daemon.connect() as first, daemon.connect() as second:
                handshake(first), handshake(second)
                with daemon.connect() as third:
                    with contextlib.suppress(ConnectionError):
                        self.assertEqual(receive(third, 1), b"")
            wait_for(lambda: self.served(daemon), "a free place")

    def served(self, daemon):
        with contextlib.suppress(OSError), daemon.connect() as sock:
            return handshake(sock)[:1] == b"\x01"
        return False

    def test_handshake_time(self):
        with self.serving("--subsystems", 1, "--handshake-time", 1) as daemon:
            with daemon.connect() as silent, daemon.connect() as half:
                handshake(half)
                self.assertEqual(receive(silent, 1), b"")
                self.assertEqual(receive(half, 1), b"")

    def test_idle_time(self):
        with self.serving("--subsystems", 1, "--idle-time", 1) as daemon, daemon.controller() as controller:
            self.assertEqual(receive(controller.admin.sock, 1), b"")
            self.assertEqual(receive(controller.io.sock, 1), b"")

    def test_memory_slows_down_and_refuses_nothing(self):
        data = random.Random(5).randbytes(1 << 20)
        with self.serving("--size", "4M", "--max-memory", "4K") as daemon, daemon.controller() as controller:
            controller.io.write(1, 0, data)
            length = 64 * 1024
            entries = [initiator.sqe(initiator.READ, cid, 1, length, initiator.rw_dwords(cid * 128, 128), False)
                       for cid in range(16)]
            controller.io.sock.sendall(b"".join(map(initiator.capsule, entries)))
            got = {}
            while len(got) < 16:
                kind, _, _, pdo, plen = struct.unpack("<BBBBI", receive(controller.io.sock, 8))
                body = receive(controller.io.sock, plen - 8)
                if kind == initiator.C2H_DATA:
                    got[struct.unpack_from("<H", body)[0]] = body[pdo - 8:]
            for cid, part in got.items():
                self.assertEqual(part, data[cid * length:(cid + 1) * length])


class Log(Case):
    """Standard error: what a host can cause at will must not fill a disk."""

    def provoke(self, daemon, count):
        for _ in range(count):
            with daemon.connect() as sock:
                sock.sendall(b"\xff" * 8)
                with contextlib.suppress(ConnectionError):
                    receive(sock, 24)

    def test_2000_bad_connections_give_few_lines_and_say_so(self):
        with self.serving("--subsystems", 1, stderr=self.folder / "log") as daemon:
            self.provoke(daemon, 2000)
            # Room for one more line of each kind comes back within a second.
            time.sleep(1.1)
            self.provoke(daemon, 1)
        lines = (self.folder / "log").read_text().splitlines()
        refused = [line for line in lines if "conn_terminate" in line]
        # log.h: 100 at once and one more each second.
        self.assertGreaterEqual(len(refused), 101)
        self.assertLess(len(refused), 150)
        self.assertLess(len(lines), 700)
        # The last one has the room of the last second, and the number in front of it.
        before = lines[lines.index(refused[-1]) - 1]
        left_out = re.fullmatch(r"target-sim: warning: (\d+) messages like the next were left out", before)
        self.assertGreater(int(left_out[1]), 1800)

    def test_trace_level_leaves_nothing_out(self):
        with self.serving("--subsystems", 1, "--log", "trace", stderr=self.folder / "log") as daemon:
            self.provoke(daemon, 300)
        log = (self.folder / "log").read_text()
        self.assertEqual(log.count(": conn_terminate"), 300)

    def test_closed_standard_descriptors_are_not_taken_for_files(self):
        def close_all():
            for descriptor in range(3):
                os.close(descriptor)

        # Messages would go into the namespace's blocks.
        with self.serving("--backend", f"file:{self.folder}", "--size", "1M",
                          preexec_fn=close_all) as daemon:
            for descriptor in range(3):
                self.assertEqual(os.readlink(f"/proc/{daemon.process.pid}/fd/{descriptor}"), "/dev/null")


class Data(Case):
    """Bytes through the whole daemon, to a backend and back."""

    def test_written_is_read_again_from_each_backend(self):
        data = random.Random(2).randbytes(300 * 512)
        for backend in ("ram", f"file:{self.folder}"):
            with self.subTest(backend=backend), self.serving("--backend", backend, "--size", "1M") as daemon, \
                    daemon.controller() as controller:
                controller.io.write(1, 7, data)
                controller.io.write(1, 1000, data[:4096], in_capsule=True)
                self.assertEqual(controller.io.read(1, 7, len(data)), data)
                self.assertEqual(controller.io.read(1, 1000, 4096), data[:4096])
                self.assertEqual(controller.io.read(1, 0, 7 * 512), bytes(7 * 512))

    def test_file_keeps_what_was_answered_over_kill_9(self):
        data = random.Random(3).randbytes(64 * 512)
        arguments = ("--backend", f"file:{self.folder}", "--size", "1M")
        daemon = Daemon(self.folder, *arguments)
        with daemon.controller() as controller:
            controller.io.write(1, 100, data)
            self.assertEqual(daemon.end(signal.SIGKILL), -signal.SIGKILL)
        with self.serving(*arguments) as again, again.controller() as controller:
            self.assertEqual(controller.io.read(1, 100, len(data)), data)

    def test_two_daemons_one_file_see_the_same_bytes(self):
        arguments = ("--backend", f"file:{self.folder}", "--size", "1M")
        data = random.Random(4).randbytes(8192)
        with self.serving(*arguments) as first, self.serving(*arguments) as second, \
                first.controller() as one, second.controller() as two:
            one.io.write(1, 0, data)
            self.assertEqual(two.io.read(1, 0, len(data)), data)
            two.io.write(1, 0, data[::-1])
            self.assertEqual(one.io.read(1, 0, len(data)), data[::-1])

    def test_host_that_takes_its_answers_late_gets_all_of_them(self):
        commands, length = 120, 128 * 1024
        with self.serving("--backend", "null", "--size", "1G") as daemon, daemon.controller() as slow, \
                daemon.controller() as other:
            entries = [initiator.sqe(initiator.READ, cid, 1, length, initiator.rw_dwords(0, length // 512), False)
                       for cid in range(1, commands + 1)]
            slow.io.sock.sendall(b"".join(map(initiator.capsule, entries)))
            # 15 MiB of answers are asked for: more than the socket and the target's limit hold.
            self.assertEqual(other.io.read(1, 0, 4096), bytes(4096))
            received, finished = 0, set()
            while len(finished) < commands:
                kind, flags, _, pdo, plen = struct.unpack("<BBBBI", receive(slow.io.sock, 8))
                body = receive(slow.io.sock, plen - 8)
                if kind == initiator.C2H_DATA:
                    received += plen - pdo
                    if flags & initiator.F_SUCCESS:
                        finished.add(struct.unpack_from("<H", body)[0])
                else:
                    self.assertEqual(kind, initiator.CAPSULE_RESP)
                    cid, status = struct.unpack_from("<HH", body, 12)
                    self.assertEqual(status >> 1, 0)
                    finished.add(cid)
            self.assertEqual(received, commands * length)

    def test_host_that_never_takes_answers_costs_bounded_memory(self):
        length = 128 * 1024
        with self.serving("--backend", "null", "--size", "1G", "--log", "error") as daemon, \
                daemon.controller() as other, contextlib.ExitStack() as stack:
            before = resident_bytes(daemon.process.pid)
            entries = [initiator.sqe(initiator.READ, cid, 1, length, initiator.rw_dwords(0, length // 512), False)
                       for cid in range(1, 60000)]
            greedy = stack.enter_context(daemon.controller())
            greedy.io.sock.settimeout(1)
            with contextlib.suppress(OSError):
                # 7 GiB of answers; the target stops reading or, for the full queue, closes.
                greedy.io.sock.sendall(b"".join(map(initiator.capsule, entries)))
            self.assertEqual(other.io.read(1, 0, 4096), bytes(4096))
            # engine/limits.h: 16 MiB of buffers for a connection; the rest is the allocator's.
            self.assertLess(resident_bytes(daemon.process.pid) - before, 64 << 20)

    def test_host_that_goes_in_the_middle_of_a_write(self):
        with self.serving("--size", "1M") as daemon:
            before = daemon.descriptors()
            for cut in (8, 72, 72 + 100):
                with daemon.controller() as controller:
                    entry = initiator.sqe(initiator.WRITE, 1, 1, 512, initiator.rw_dwords(0, 1), True)
                    controller.io.sock.sendall(initiator.capsule(entry, bytes(512))[:cut])
            wait_for(lambda: daemon.descriptors() == before, "all descriptors closed")
            with daemon.controller() as controller:
                self.assertEqual(controller.io.read(1, 0, 512), bytes(512))


def resident_bytes(pid):
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def state(pid):
    """The letter of ps(1); "Z", a zombie, also for a process that is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return "Z"


def running(pid):
    return state(pid) != "Z"


PARENT = """
import subprocess, sys, time
subprocess.Popen(sys.argv[1:])
time.sleep(60)
"""


class Parent(Case):
    def start(self, *arguments):
        ready = self.folder / "ready.json"
        parent = subprocess.Popen([sys.executable, "-c", PARENT, TARGET_SIM, "--subsystems", "1",
                                   "--ready-file", str(ready), *arguments],
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(parent.wait)
        self.addCleanup(parent.kill)
        wait_for(ready.exists, "ready")
        pid = json.loads(ready.read_text())["pid"]
        parent.kill()
        parent.wait()
        return pid, ready

    def test_death_ends_the_daemon_if_asked(self):
        pid, ready = self.start("--die-with-parent")
        wait_for(lambda: not running(pid), "end of target-sim")
        self.assertFalse(ready.exists())

    def test_death_does_not_matter_otherwise(self):
        pid, _ = self.start()
        time.sleep(0.2)
        self.assertTrue(running(pid))
        os.kill(pid, signal.SIGTERM)
        wait_for(lambda: not running(pid), "end of target-sim")


if __name__ == "__main__":
    import tap
    tap.main()
