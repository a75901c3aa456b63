# SPDX-License-Identifier: GPL-2.0-or-later
"""target-sim --threads: whose a connection is, and what the threads have in common."""
import contextlib
import json
import os
import struct
import threading
import time
import unittest

import initiator
from harness import Case, Control, Daemon, run, wait_for
from initiator import handshake

NQN = "nqn.2026-01.org.lockstep:subsystem{}".format


class Threads(Case):
    @contextlib.contextmanager
    def crew(self, *arguments, threads=3, subsystems=4):
        path = self.folder / "control"
        with self.serving("--threads", threads, "--subsystems", subsystems, "--size", "1M", "--control", path,
                          *arguments) as daemon:
            yield daemon, Control(path)

    def controllers(self, daemon, count):
        return [initiator.Controller(daemon.address(), NQN(number)) for number in range(1, count + 1)]

    def test_wrong_numbers_of_threads_are_refused(self):
        for value in ("0", "65", "two"):
            with self.subTest(value):
                result = run("--subsystems", "1", "--threads", value)
                self.assertEqual(result.returncode, 2)
                self.assertIn(f'--threads: wrong value "{value}"; allowed: a number from 1 to 64', result.stderr)

    def test_there_are_as_many_threads_as_asked_for(self):
        with self.crew(threads=5) as (daemon, _):
            self.assertEqual(len(os.listdir(f"/proc/{daemon.process.pid}/task")), 5)

    def test_each_subsystem_keeps_its_own_data_and_connections_have_numbers_of_their_own(self):
        with self.crew() as (daemon, control):
            hosts = self.controllers(daemon, 4)
            for number, host in enumerate(hosts):
                host.io.write(1, 0, bytes([number + 1]) * 512)
            for number, host in enumerate(hosts):
                self.assertEqual(host.io.read(1, 0, 512), bytes([number + 1]) * 512)
            ids = [int(name.rstrip("/")) for name in control.list("connections")]
            self.assertEqual(sorted(ids), list(range(1, 9)))
            self.assertEqual({control.get(f"connections/{n}/subnqn") for n in ids}, {NQN(n) for n in range(1, 5)})

    def test_statistics_are_those_of_all_threads(self):
        with self.crew() as (daemon, control):
            hosts = self.controllers(daemon, 4)
            for host in hosts:
                for _ in range(5):
                    host.io.read(1, 0, 512)
            stats = json.loads(control.run("--json", "stats"))["stats"]
            self.assertEqual(stats["target"]["connections"], 8)
            self.assertEqual(stats["target"]["connections_opened"], 8)
            self.assertEqual(stats["target"]["controllers"], 4)
            reads = [x for x in stats["opcodes"] if (x["queue"], x["opcode"]) == ("io", "read")]
            self.assertEqual([x["count"] for x in reads], [20])

    def test_a_change_holds_for_every_thread(self):
        with self.crew() as (daemon, control):
            hosts = self.controllers(daemon, 4)
            for number, host in enumerate(hosts, 1):
                control.set(f"subsystems/{NQN(number)}/namespaces/1/enable", 0)
                with self.assertRaisesRegex(OSError, "0x400b"):      # Invalid Namespace, do not retry
                    host.io.write(1, 0, bytes(512))
                control.set(f"subsystems/{NQN(number)}/namespaces/1/enable", 1)
                host.io.write(1, 0, bytes(512))

    def test_a_subsystem_that_is_made_at_run_time_is_served_and_its_end_ends_its_connections(self):
        with self.crew() as (daemon, control):
            for number in (11, 12, 13):
                control.run("mkdir", f"subsystems/{NQN(number)}")
                control.set(f"subsystems/{NQN(number)}/attr_allow_any_host", 1)
                control.run("mkdir", f"subsystems/{NQN(number)}/namespaces/1")
                control.set(f"subsystems/{NQN(number)}/namespaces/1/device_path", "ram:1M")
                control.set(f"subsystems/{NQN(number)}/namespaces/1/enable", 1)
                control.run("link", f"ports/1/subsystems/{NQN(number)}")
                host = initiator.Controller(daemon.address(), NQN(number))
                host.io.write(1, 0, bytes(512))
                control.run("unlink", f"ports/1/subsystems/{NQN(number)}")
                control.run("rmdir", f"subsystems/{NQN(number)}/namespaces/1")
                control.run("rmdir", f"subsystems/{NQN(number)}")
                with self.assertRaises((OSError, struct.error)):
                    host.io.write(1, 0, bytes(512))
            wait_for(lambda: not control.list("connections"), "connections of what is gone")

    def test_a_port_that_is_made_at_run_time_leads_to_every_thread(self):
        with self.crew() as (daemon, control):
            control.run("mkdir", "ports/2")
            control.set("ports/2/addr_traddr", "127.0.0.1")
            control.set("ports/2/addr_trsvcid", 0)
            for number in range(1, 5):
                control.run("link", f"ports/2/subsystems/{NQN(number)}")
            port = int(control.get("ports/2/addr_trsvcid"))
            for number in range(1, 5):
                host = initiator.Controller(("127.0.0.1", port), NQN(number))
                host.io.write(1, 0, bytes(512))

    def test_connections_beyond_the_limit_are_closed_whosever_they_are(self):
        with self.crew("--max-connections", 4) as (daemon, control):
            hosts = self.controllers(daemon, 2)
            with self.assertRaises((OSError, struct.error)):
                initiator.Controller(daemon.address(), NQN(3))
            hosts[0].__exit__()
            wait_for(lambda: len(control.list("connections")) == 2, "two connections less")
            third = initiator.Controller(daemon.address(), NQN(3))
            third.io.write(1, 0, bytes(512))

    def test_a_connection_that_is_removed_by_path_is_closed_in_its_thread(self):
        with self.crew() as (daemon, control):
            hosts = self.controllers(daemon, 3)
            numbers = [name.rstrip("/") for name in control.list("connections")]
            for number in [n for n in numbers if control.get(f"connections/{n}/qid") == "1"]:
                control.run("rmdir", f"connections/{number}")
            for host in hosts:
                with self.assertRaises((OSError, struct.error)):
                    host.io.write(1, 0, bytes(512))
            wait_for(lambda: len(control.list("connections")) == 3, "the Admin queues")

    def test_a_host_that_connects_to_nothing_or_sends_no_connect_is_answered_as_ever(self):
        with self.crew() as (daemon, control):
            with self.assertRaises((OSError, struct.error)):
                initiator.Controller(daemon.address(), "nqn.2026-01.org.example:none")
            with daemon.connect() as sock:
                handshake(sock)
                sock.sendall(struct.pack("<BBBBI", 0x42, 0, 8, 0, 8))      # no such PDU
                self.assertEqual(sock.recv(1), b"\x03")                    # C2HTermReq
            self.assertEqual(len(self.controllers(daemon, 4)), 4)

    def test_the_control_socket_is_served_while_hosts_are_busy(self):
        with self.crew() as (daemon, control):
            hosts, done = self.controllers(daemon, 4), threading.Event()

            def work(host):
                while not done.is_set():
                    host.io.write(1, 0, bytes(512))
            workers = [threading.Thread(target=work, args=(host,)) for host in hosts]
            for worker in workers:
                worker.start()
            try:
                for _ in range(50):
                    control.run("stats")
                    control.set("limit_idle", 0)
            finally:
                done.set()
                for worker in workers:
                    worker.join()

    def test_commands_in_other_threads_end_before_the_daemon_does(self):
        daemon = Daemon(self.folder, "--threads", 3, "--subsystems", 4, "--size", "1M", "--drain-time", 10,
                        "--media", "null,read_ns=300000000")
        hosts = self.controllers(daemon, 3)
        answers = []
        workers = [threading.Thread(target=lambda h=host: answers.append(h.io.read(1, 0, 512))) for host in hosts]
        for worker in workers:
            worker.start()
        time.sleep(0.1)
        self.assertEqual(daemon.end(), 0)
        for worker in workers:
            worker.join()
        self.assertEqual(answers, [bytes(512)] * 3)


if __name__ == "__main__":
    import tap
    tap.main()
