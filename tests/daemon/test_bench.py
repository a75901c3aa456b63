# SPDX-License-Identifier: GPL-2.0-or-later
"""target-bench against target-sim: what it counts, what it notices, how it ends."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import tap
from harness import SECONDS, Case, Daemon, changed, free_ports, wait_for

TARGET_BENCH = os.environ.get("TARGET_BENCH") or str(
    pathlib.Path(__file__).resolve().parents[2] / "build/target-sim/target-bench")


def start(*arguments):
    return subprocess.Popen([TARGET_BENCH, *map(str, arguments)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def bench(*arguments):
    process = start(*arguments)
    try:
        process.stdout_text, process.stderr_text = process.communicate(timeout=2 * SECONDS)
    finally:
        process.kill()
    return process


def at(daemon, index=0):
    return "--address", f"127.0.0.1:{daemon.ports()[index]}"


class Runs(Case):
    def result(self, *arguments):
        """The JSON of a run that went well."""
        run = bench(*arguments, "--json")
        self.assertEqual((run.returncode, run.stderr_text), (0, ""), run.stdout_text)
        return json.loads(run.stdout_text)

    def test_number_of_ios_is_exact(self):
        with self.serving("--subsystems", 1) as daemon:
            for queues, depth, threads in (1, 1, 1), (3, 7, 2), (16, 127, 3):
                with self.subTest(queues=queues, depth=depth):
                    got = self.result(*at(daemon), "--ios", 1001, "--queues", queues, "--depth", depth,
                                      "--threads", threads)
                    self.assertEqual((got["ios"], got["errors"]), (1001, 0))
                    self.assertEqual(got["read"]["bytes"], 1001 * 4096)
                    latency = got["read"]["latency_ns"]
                    order = [latency[name] for name in
                             ("min", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max")]
                    self.assertEqual(order, sorted(order))

    def test_mix_is_near_its_percentage(self):
        with self.serving("--subsystems", 1) as daemon:
            got = self.result(*at(daemon), "--ios", 10000, "--depth", 32, "--rw", "randrw", "--mix", 70)
            # Standard deviation 46.
            self.assertLess(abs(got["read"]["ios"] - 7000), 300)
            self.assertEqual(got["read"]["ios"] + got["write"]["ios"], 10000)

    def test_verify_over_every_way_of_the_data(self):
        with self.serving("--subsystems", 1, "--size", "16M", "--block-size", 4096) as daemon:
            for more in (["--header-digest", "--data-digest"], ["--no-sq-flow-control"], ["--no-inline"],
                         ["--block-size", "256K", "--rw", "rw"], ["--controllers", 2, "--rw", "randwrite"]):
                with self.subTest(more=more):
                    got = self.result(*at(daemon), "--ios", 2000, "--queues", 2, "--depth", 8, "--rw",
                                      "randrw", "--verify", *more)
                    self.assertEqual((got["ios"], got["mismatches"]), (2000, 0))
                    self.assertEqual(got["verify_written"], got["verify_read"])

    def test_verify_notices_a_target_that_forgets(self):
        with self.serving("--subsystems", 1, "--backend", "null", "--size", "1M") as daemon:
            run = bench(*at(daemon), "--ios", 10, "--verify", "--json")
            self.assertEqual(run.returncode, 1)
            got = json.loads(run.stdout_text)
            self.assertEqual(got["mismatches"], 10 + 256)
            self.assertRegex(got["complaint"], r"^offset \d+: not written by this program$")

    def test_subsystem_by_name_and_by_discovery(self):
        with self.serving("--subsystems", 2, "--paths", 2) as daemon:
            got = self.result(*at(daemon, 1), "--ios", 10)
            self.assertEqual(got["target"]["nqn"], "nqn.2026-01.org.lockstep:subsystem1")
            name = "nqn.2026-01.org.lockstep:subsystem2"
            got = self.result(*at(daemon, 1), "--ios", 10, "--nqn", name)
            self.assertEqual(got["target"]["nqn"], name)
            self.assertEqual(got["target"]["trsvcid"], daemon.ports()[1])

    def test_thousand_queues(self):
        with self.serving("--subsystems", 1, "--log", "warn") as daemon:
            got = self.result(*at(daemon), "--controllers", 8, "--queues", 125, "--ios", 5000)
            self.assertEqual(got["ios"], 5000)
            wait_for(lambda: daemon.descriptors() < 20, "connections gone")

    def test_runtime_and_progress(self):
        with self.serving("--subsystems", 1) as daemon:
            run = bench(*at(daemon), "--runtime", 2, "--progress", 1)
            self.assertEqual(run.returncode, 0)
            self.assertRegex(run.stderr_text, r"^running: 1 s, \d+ commands, \d+ IOPS\n")
            self.assertRegex(run.stdout_text, r"(?m)^read +\d+ ")

    def test_help_and_version(self):
        run = bench("--help")
        self.assertEqual((run.returncode, run.stderr_text), (0, ""))
        for option in ("address nqn hostnqn nsid controllers queues depth threads block-size rw mix size "
                       "runtime ios header-digest data-digest no-sq-flow-control no-inline verify seed "
                       "timeout progress json help version").split():
            self.assertIn(f"\n  --{option}", run.stdout_text)
        self.assertRegex(bench("--version").stdout_text, r"^target-bench \d+\.\d+\.\d+\n$")


class Failures(Case):
    def failed(self, status, pattern, *arguments):
        run = bench(*arguments)
        self.assertEqual((run.returncode, run.stdout_text), (status, ""))
        self.assertRegex(run.stderr_text, rf"^target-bench: error: {pattern}\n$")

    def test_nobody_listens(self):
        port = free_ports()
        self.failed(1, f"cannot connect to 127.0.0.1 port {port}: Connection refused",
                    "--address", f"127.0.0.1:{port}")

    def test_what_the_target_does_not_allow(self):
        with self.serving("--subsystems", 1, "--size", "1M", "--block-size", 4096, "--max-queues", 2,
                          "--max-queue-size", 16) as daemon:
            name = "nqn.2026-01.org.example:none"
            for status, pattern, arguments in (
                    (1, f"{name}: Connect: status type 1h, code 82h", ["--nqn", name]),
                    (1, "--queues: wrong value 3; the controller allows 2", ["--queues", 3]),
                    (1, "--depth: wrong value 16; the controller's queues allow 15", ["--depth", 16]),
                    (1, "--nsid: namespace 2 is not there, or not in blocks of 512 bytes to 1M without "
                     "metadata", ["--nsid", 2]),
                    (2, "--block-size: must be a multiple of the namespace's block size",
                     ["--block-size", 512]),
                    (2, "--size: larger than the namespace", ["--size", "2M"]),
                    (2, "--size: too small; each queue needs a block for each command and one more",
                     ["--rw", "read", "--size", "32K", "--depth", 8])):
                with self.subTest(arguments=arguments):
                    self.failed(status, pattern, *at(daemon), *arguments)

    def test_no_subsystem_to_discover(self):
        def none(config):
            config["subsystems"] = []
            config["ports"][0]["subsystems"] = []

        with self.serving("--config", self.write_config(changed(none))) as daemon:
            self.failed(1, f"the discovery service at 127.0.0.1 port {daemon.ports()[0]} knows no NVM "
                        "subsystem", *at(daemon))

    def test_target_that_goes(self):
        daemon = Daemon(self.folder, "--subsystems", 1)
        process = start(*at(daemon), "--runtime", 60, "--queues", 4, "--depth", 16)
        before = daemon.descriptors()
        wait_for(lambda: daemon.descriptors() >= before + 5, "queues connected")
        time.sleep(0.1)
        daemon.end(signal.SIGKILL)
        _, text = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(text, "^target-bench: error: (.*: )?connection lost: ")

    def test_target_that_says_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            self.failed(1, f"127.0.0.1 port {port}: no answer within 1 s",
                        "--address", f"127.0.0.1:{port}", "--timeout", 1)

    def test_commands_that_are_not_answered(self):
        with self.serving("--media", "null,read_ns=10000000000") as daemon:
            self.failed(1, "no answer within 1 s", *at(daemon), "--timeout", 1)

    def test_target_that_speaks_something_else(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def answer():
                with server.accept()[0] as sock:
                    sock.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")
                    sock.recv(1024)

            thread = threading.Thread(target=answer)
            thread.start()
            port = server.getsockname()[1]
            self.failed(1, f"127.0.0.1 port {port}: the target broke the protocol: PDU type, FES 1, FEI 0",
                        "--address", f"127.0.0.1:{port}")
            thread.join()

    def test_commands_that_fail_are_counted(self):
        with self.serving("--subsystems", 1, "--ana", "inaccessible") as daemon:
            run = bench(*at(daemon), "--ios", 10, "--json")
            got = json.loads(run.stdout_text)
            # 3/02h: Asymmetric Access Inaccessible
            self.assertEqual((run.returncode, got["errors"], got["ios"]), (1, 10, 0))
            self.assertRegex(got["complaint"], r"^read of block \d+: status type 3h, code 02h$")

    def test_interrupt_reports_what_was_done(self):
        with self.serving("--subsystems", 1) as daemon:
            process = start(*at(daemon), "--runtime", 60, "--progress", 1, "--json")
            self.assertIn("running: 1 s", process.stderr.readline())
            process.send_signal(signal.SIGINT)
            text, _ = process.communicate(timeout=SECONDS)
            self.assertEqual(process.returncode, 130)
            got = json.loads(text)
            self.assertTrue(got["interrupted"])
            self.assertGreater(got["ios"], 0)


if __name__ == "__main__":
    tap.main()
