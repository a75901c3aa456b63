# SPDX-License-Identifier: GPL-2.0-or-later
"""What target-sim counted: `ctl stats` and the page for Prometheus.

Expected counts are those of the commands that the test sent; the page's form is that of Prometheus'
text exposition format 0.0.4.
"""
import contextlib
import json
import re
import socket
import struct
import time

import initiator
from harness import Case, Control, run, wait_for
from initiator import receive

IDENTIFY = 0x06
# name{labels} value; a label's value has its quotes, backslashes and newlines escaped.
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{{({LABEL}(?:,{LABEL})*)\}})? ([0-9.]+|\+Inf)$")


def parse_exposition(text):
    """{name: {labels: value}} of a page; raises on what the format does not allow."""
    assert text.endswith("\n"), "the last line ends too"
    types, helped, samples, family = {}, set(), {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            assert name not in helped, line
            helped.add(name)
        elif line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family not in types, f"a family in one group: {line}"
            assert kind in ("counter", "gauge", "histogram", "summary", "untyped"), line
            types[family] = kind
        else:
            match = SAMPLE.match(line)
            assert match, line
            name, labels, value = match.groups()
            suffixes = ("_bucket", "_sum", "_count") if types[family] == "histogram" else ("",)
            assert name in [family + suffix for suffix in suffixes], line
            of_name = samples.setdefault(name, {})
            assert labels not in of_name, f"twice: {line}"
            of_name[labels] = float(value)
    for name, kind in types.items():
        if kind == "histogram" and f"{name}_bucket" in samples:
            check_histogram(samples[f"{name}_bucket"], samples[f"{name}_count"])
    return samples


def check_histogram(buckets, counts):
    """Buckets of a series count up with le, to +Inf, which is the count."""
    series = {}
    for labels, value in buckets.items():
        others, limit = re.fullmatch(r'(.*),le="([^"]*)"', labels).groups()
        series.setdefault(others, []).append((float(limit), value))
    for others, values in series.items():
        assert values == sorted(values) and [v for _, v in values] == sorted(v for _, v in values), others
        assert values[-1] == (float("inf"), counts[others]), others


def some_commands(controller):
    """3 Reads of 4 KiB, 2 Writes of 1 KiB, one Read that fails, one opcode that does not exist, Identify."""
    for _ in range(3):
        controller.io.read(1, 0, 4096)
    for _ in range(2):
        controller.io.write(1, 0, bytes(1024))
    for opcode, lba in ((initiator.READ, 1 << 40), (0x7E, 0)):
        with contextlib.suppress(OSError):
            controller.io.command(opcode, 1, b"", initiator.rw_dwords(lba, 1),
                                  read_length=512 if opcode == initiator.READ else 0)
    controller.admin.command(IDENTIFY, 0, b"", struct.pack("<I", 1), read_length=4096)


def by_opcode(entries):
    return {(entry["queue"], entry["opcode"]): entry for entry in entries}


class Statistics(Case):
    @contextlib.contextmanager
    def controlled(self, *arguments):
        path = self.folder / "control"
        with self.serving("--size", "1M", "--control", path, *arguments) as daemon:
            yield daemon, Control(path)

    def stats(self, control):
        return json.loads(run("ctl", "--socket", control.path, "stats", "--json").stdout)["stats"]

    def check_opcodes(self, entries):
        opcodes = by_opcode(entries)
        read, write = opcodes["io", "read"], opcodes["io", "write"]
        self.assertEqual((read["count"], read["errors"], read["bytes"]), (4, 1, 3 * 4096))
        self.assertEqual((write["count"], write["errors"], write["bytes"]), (2, 0, 2 * 1024))
        invalid = opcodes["io", "invalid"]
        self.assertEqual((invalid["count"], invalid["errors"]), (1, 1))
        for entry in opcodes.values():
            self.assertEqual(sum(count for _, count in entry["histogram"]), entry["count"])
            self.assertLessEqual(entry["p50_ns"], entry["p99_ns"])
            self.assertLessEqual(entry["p99_ns"], entry["p99_9_ns"])
            self.assertLessEqual(entry["p99_9_ns"], entry["max_ns"])
            self.assertLess(0, entry["mean_ns"])
            self.assertLessEqual(entry["mean_ns"], entry["max_ns"])

    def test_commands_of_each_queue_and_of_all_also_when_they_are_gone(self):
        with self.controlled() as (daemon, control):
            with daemon.controller() as controller:
                some_commands(controller)
                stats = self.stats(control)
                self.assertEqual([c["qid"] for c in stats["connections"]], [0, 1])
                io = stats["connections"][1]
                self.check_opcodes(io["opcodes"])
                self.check_opcodes(stats["opcodes"])
                self.assertEqual(io["commands"], 8)  # with Connect
                self.assertEqual(io["failed"], 2)
                self.assertEqual(io["queue_size"], 128)
                # A queue's memory: the limit is 32 KiB for an idle one.
                self.assertLess(io["memory_bytes"], 32768)
                self.assertEqual(stats["target"]["controllers"], 1)
                self.assertEqual(stats["controllers"][0]["io_queues"], 1)
                admin = by_opcode(stats["connections"][0]["opcodes"])
                self.assertEqual(admin["admin", "identify"]["count"], 1)
            wait_for(lambda: self.stats(control)["target"]["connections"] == 0, "both connections closed")
            after = self.stats(control)
            self.check_opcodes(after["opcodes"])
            self.assertEqual((after["target"]["connections_opened"], after["target"]["controllers_created"]), (2, 1))

    def test_all_opcodes_cost_a_queue_one_entry(self):
        with self.controlled() as (daemon, control), daemon.controller() as controller:
            for opcode in range(256):
                with contextlib.suppress(OSError):
                    controller.admin.command(opcode, 0, b"", b"") if opcode not in (0x0C, 0x7F) else None
            entries = by_opcode(self.stats(control)["connections"][0]["opcodes"])
            self.assertLess(len(entries), 20)
            self.assertGreater(entries["admin", "invalid"]["count"], 230)

    def test_table_has_a_line_for_each_opcode(self):
        with self.controlled() as (daemon, control), daemon.controller() as controller:
            some_commands(controller)
            lines = [line.split() for line in control.run("stats").splitlines()]
            self.assertIn(["io", "read", "4", "1", "12288"], [line[:5] for line in lines])
            self.assertIn(["2", "io", "read", "4", "1", "12288"], [line[:6] for line in lines])


class Metrics(Case):
    def page_address(self, daemon):
        for line in (self.folder / "log").read_text().splitlines():
            match = re.search(r"metrics on http://127\.0\.0\.1:(\d+)/metrics", line)
            if match:
                return "127.0.0.1", int(match[1])
        raise AssertionError("no address of the page")

    @contextlib.contextmanager
    def measured(self):
        with self.serving("--size", "1M", "--metrics", "127.0.0.1:0", stderr=self.folder / "log") as daemon:
            yield daemon, self.page_address(daemon)

    def ask(self, address, request):
        with socket.create_connection(address, timeout=20) as sock:
            sock.sendall(request)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while part := sock.recv(65536):
                    answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        if head:
            length = int(re.search(rb"Content-Length: (\d+)", head)[1])
            self.assertEqual(len(body), length)
        return head.decode(), body.decode()

    def get(self, address):
        head, body = self.ask(address, b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n")
        self.assertTrue(head.startswith("HTTP/1.1 200 OK\r\n"), head)
        self.assertIn("Content-Type: text/plain; version=0.0.4", head)
        return parse_exposition(body)

    def test_page_is_well_formed_and_counts_what_was_done(self):
        with self.measured() as (daemon, address):
            self.get(address)
            with daemon.controller() as controller:
                some_commands(controller)
                samples = self.get(address)
                labels = 'queue="io",opcode="read"'
                self.assertEqual(samples["target_sim_commands_total"][labels], 4)
                self.assertEqual(samples["target_sim_command_errors_total"][labels], 1)
                self.assertEqual(samples["target_sim_command_bytes_total"][labels], 3 * 4096)
                self.assertEqual(samples["target_sim_command_duration_seconds_count"][labels], 4)
                self.assertEqual(samples["target_sim_connections"][None], 2)
                self.assertEqual(samples["target_sim_controllers"][None], 1)
            wait_for(lambda: self.get(address)["target_sim_connections"][None] == 0, "both closed")
            self.assertEqual(self.get(address)["target_sim_commands_total"][labels], 4, "counters never go back")

    def test_other_requests_get_the_status_that_belongs_to_them(self):
        with self.measured() as (daemon, address):
            for request, status in ((b"GET / HTTP/1.1\r\n\r\n", "404"), (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
                                    (b"GET /metrics\r\n\r\n", "400"), (b"\r\n\r\n", "400"),
                                    (b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 2000 + b"\r\n", "431")):
                with self.subTest(request=request[:30]):
                    head, _ = self.ask(address, request)
                    self.assertTrue(not head and status == "431" or head.startswith(f"HTTP/1.1 {status} "), head)
            self.assertEqual(self.ask(address, b"\0\xff\r\n\r\n")[0], "")
            self.get(address)

    def test_silent_clients_give_their_places_back(self):
        with self.measured() as (daemon, address), contextlib.ExitStack() as stack:
            silent = [stack.enter_context(socket.create_connection(address, timeout=20)) for _ in range(16)]
            # Without a request a client is closed after a while; then there is a place again.
            self.assertEqual(receive(silent[0], 1), b"")
            wait_for(lambda: self.served(address), "a free place")

    def served(self, address):
        with contextlib.suppress(OSError, AssertionError):
            return bool(self.get(address))
        return False

    def test_option_is_checked(self):
        for value in ("127.0.0.1", "localhost:1", "127.0.0.1:65536", ""):
            self.refused(2, f"--metrics: wrong value \"{value}\"; allowed: a numeric address and a port from 0 to "
                            "65535, ADDR:PORT or [ADDR6]:PORT", "--subsystems", 1, "--metrics", value)


if __name__ == "__main__":
    import tap
    tap.main()
