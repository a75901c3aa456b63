# SPDX-License-Identifier: GPL-2.0-or-later
"""target-sim as a process: command line, messages, ready file, signals, sockets.

The protocol behind the sockets is tested elsewhere; here a connection is made, one
handshake answered (bytes of the NVMe/TCP specification 1.0) and rubbish survived.
"""
import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

import initiator
from initiator import handshake, icreq, receive

TARGET_SIM = os.environ.get("TARGET_SIM") or str(
    pathlib.Path(__file__).resolve().parents[2] / "build/target-sim/target-sim")
SECONDS = 20  # for anything that takes milliseconds on an idle machine

CONFIG = {
    "hosts": [],
    "ports": [{"addr": {"adrfam": "ipv4", "traddr": "127.0.0.1", "treq": "not specified",
                        "trsvcid": "0", "trtype": "tcp", "tsas": "none"},
               "ana_groups": [{"ana": {"state": "optimized"}, "grpid": 1}],
               "param": {"inline_data_size": "16384"},
               "portid": 1, "referrals": [], "subsystems": ["nqn.2026-01.org.example:a"]}],
    "subsystems": [{"allowed_hosts": [], "attr": {"allow_any_host": "1", "serial": "A0001"},
                    "namespaces": [{"ana_grpid": 1, "device": {"path": "ram:1M"}, "enable": 1,
                                    "nsid": 1}],
                    "nqn": "nqn.2026-01.org.example:a"}],
}


def run(*arguments):
    """A run that is expected to end by itself."""
    return subprocess.run([TARGET_SIM, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)


def wait_for(condition, what):
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {SECONDS} s: {what}")
        time.sleep(0.01)


def free_ports(count=1):
    """The first of `count` free ports in a row, below those that outgoing connections get."""
    while True:
        first = random.randrange(20000, 32000)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first


class Daemon:
    """A running target-sim; `ready` is what its ready file says."""

    def __init__(self, folder, *arguments, preexec_fn=None):
        self.ready_path = pathlib.Path(folder, f"ready-{time.monotonic_ns()}.json")
        self.process = subprocess.Popen(
            [TARGET_SIM, *map(str, arguments), "--ready-file", str(self.ready_path)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=preexec_fn)
        self.log = None
        wait_for(lambda: self.ready_path.exists() or self.process.poll() is not None, "ready")
        if self.process.poll() is not None:
            raise AssertionError(self.process.stderr.read())
        self.ready = json.loads(self.ready_path.read_text())

    def ports(self):
        return [int(port["trsvcid"]) for port in self.ready["ports"]]

    def address(self, index=0):
        return self.ready["ports"][index]["listen"], self.ports()[index]

    def connect(self, index=0):
        return socket.create_connection(self.address(index), timeout=SECONDS)

    def controller(self):
        """A host's controller of the first subsystem."""
        return initiator.Controller(self.address(), self.ready["subsystems"][0]["nqn"])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            _, self.log = self.process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-daemon-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    @contextlib.contextmanager
    def serving(self, *arguments, **options):
        """A daemon that must still run, and end well, when the block is left."""
        daemon = Daemon(self.folder, *arguments, **options)
        try:
            yield daemon
            self.assertIsNone(daemon.process.poll(), "target-sim ended by itself")
        finally:
            status = daemon.end()
        self.assertEqual(status, 0, daemon.log)

    def write_config(self, config, name="config.json"):
        path = self.folder / name
        path.write_text(config if isinstance(config, str) else json.dumps(config, indent=2))
        return path

    def refused(self, status, message, *arguments):
        result = run(*arguments)
        self.assertEqual(result.stderr, f"target-sim: error: {message}\n")
        self.assertEqual(result.returncode, status)
        self.assertEqual(result.stdout, "")


def changed(edit):
    """The configuration above after edit(config)."""
    config = json.loads(json.dumps(CONFIG))
    edit(config)
    return config


class CommandLine(Case):
    def test_help_lists_every_option(self):
        result = run("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for option in ("config subsystems paths namespaces size block-size backend listen advertise "
                       "inline-data-size max-queue-size max-queues ana ready-file seed log "
                       "die-with-parent help version").split():
            self.assertIn(f"\n  --{option}", result.stdout)
        self.assertIn("Examples:", result.stdout)

    def test_version(self):
        result = run("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^target-sim \d+\.\d+\.\d+\n$")

    def test_wrong_values(self):
        number = "a number from {} to {}".format
        table = [
            ("--subsystems", "0", number(1, 1024)),
            ("--subsystems", "1025", number(1, 1024)),
            ("--subsystems", "-1", number(1, 1024)),
            ("--subsystems", "two", number(1, 1024)),
            ("--subsystems", "", number(1, 1024)),
            ("--paths", "129", number(1, 128)),
            ("--namespaces", "129", number(1, 128)),
            ("--size", "0", "a size over 0 with suffix K, M, G or T, such as 256M"),
            ("--size", "256MB", "a size over 0 with suffix K, M, G or T, such as 256M"),
            ("--size", "99999999T", "a size over 0 with suffix K, M, G or T, such as 256M"),
            ("--size", "1000", None),
            ("--block-size", "1024", "512 or 4096"),
            ("--backend", "disk", "ram, null or file:DIR"),
            ("--backend", "file:", "ram, null or file:DIR"),
            ("--listen", "localhost", "a numeric address, ADDR, ADDR:PORT, [ADDR6] or "
             "[ADDR6]:PORT, PORT from 0 to 65535"),
            ("--listen", "127.0.0.1:65536", "a numeric address, ADDR, ADDR:PORT, [ADDR6] or "
             "[ADDR6]:PORT, PORT from 0 to 65535"),
            ("--listen", "[::1", "a numeric address, ADDR, ADDR:PORT, [ADDR6] or "
             "[ADDR6]:PORT, PORT from 0 to 65535"),
            ("--advertise", "example.org", "a numeric IPv4 or IPv6 address"),
            ("--inline-data-size", "65552", "a multiple of 16 from 0 to 65536"),
            ("--inline-data-size", "100", "a multiple of 16 from 0 to 65536"),
            ("--max-queue-size", "15", number(16, 1024)),
            ("--max-queues", "0", number(1, 1024)),
            ("--ana", "good", "optimized, non-optimized, inaccessible, persistent-loss or change; "
             "one for all paths, or one per path separated by commas"),
            ("--seed", "18446744073709551616", number(0, 2**64 - 1)),
            ("--log", "loud", "error, warn, info or trace"),
        ]
        for option, value, allowed in table:
            with self.subTest(option=option, value=value):
                shown = f'"{value}"' if allowed else value
                allowed = allowed or "a multiple of the block size 512"
                self.refused(2, f"{option}: wrong value {shown}; allowed: {allowed}", option, value)

    def test_size_not_a_multiple_of_4096(self):
        self.refused(2, "--size: wrong value 1049088; allowed: a multiple of the block size 4096",
                     "--size", 1024 * 1024 + 512, "--block-size", 4096)

    def test_more_paths_than_tcp_ports(self):
        self.refused(2, "--listen: wrong port 65535 for 2 paths; allowed: up to 65534",
                     "--paths", 2, "--listen", "127.0.0.1:65535")

    def test_ana_states_that_do_not_fit_the_paths(self):
        self.refused(2, "--ana: 2 states given; allowed: one for all paths or one for each of the "
                     "3 paths", "--paths", 3, "--ana", "optimized,inaccessible")

    def test_advertise_of_another_family(self):
        self.refused(2, '--advertise: wrong value "::1"; allowed: an address of the family of a port',
                     "--paths", 1, "--advertise", "::1")

    def test_config_and_generator_exclude_each_other(self):
        self.refused(2, "--config and --paths exclude each other; allowed: either a file or the "
                     "flags that generate a configuration", "--config", "x", "--paths", "2")

    def test_nothing_to_serve(self):
        self.refused(2, "nothing to serve; give --config FILE, or flags such as --subsystems 1 "
                     "(see --help)")

    def test_unknown_option(self):
        self.refused(2, "--subsystem-count: unknown option or unexpected value (see --help)",
                     "--subsystem-count", "1")

    def test_option_without_its_value(self):
        self.refused(2, "--paths: needs a value (see --help)", "--paths")

    def test_argument_that_is_no_option(self):
        self.refused(2, '"4": unexpected argument; allowed: options only (see --help)', "4")


class ConfigurationFile(Case):
    def test_file_as_nvmetcli_saves_it_is_served(self):
        with self.serving("--config", self.write_config(CONFIG)) as daemon:
            self.assertEqual(daemon.ready["subsystems"][0]["nqn"], "nqn.2026-01.org.example:a")
            self.assertEqual(daemon.ready["subsystems"][0]["serial"], "A0001")

    def test_file_that_is_not_there(self):
        result = run("--config", self.folder / "absent.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No such file or directory", result.stderr)
        self.assertIn("absent.json", result.stderr)

    def test_listen_and_advertise_take_the_place_of_addresses_in_the_file(self):
        def elsewhere(config):
            config["ports"][0]["addr"].update(traddr="192.0.2.1", trsvcid="4420")

        with self.serving("--config", self.write_config(changed(elsewhere)), "--listen", "127.0.0.1:0",
                          "--advertise", "10.0.2.2") as daemon, daemon.connect() as sock:
            self.assertEqual(daemon.ready["ports"][0]["listen"], "127.0.0.1")
            self.assertEqual(daemon.ready["ports"][0]["traddr"], "10.0.2.2")
            self.assertEqual(handshake(sock)[0], initiator.ICRESP)

    def test_unknown_key_is_named_with_file_line_and_path(self):
        path = self.write_config(changed(
            lambda c: c["subsystems"][0]["namespaces"][0]["device"].update(sizee="256M")))
        line = 1 + path.read_text().split("sizee")[0].count("\n")
        self.refused(2, f'{path}:{line}: subsystems[0].namespaces[0].device.sizee: unknown key (its '
                     'value is "256M"); allowed keys here: nguid, path, uuid', "--config", path)

    def test_duplicate_nqn(self):
        path = self.write_config(changed(lambda c: c["subsystems"].append(c["subsystems"][0])))
        result = run("--config", path)
        self.assertEqual(result.returncode, 2)
        self.assertIn('subsystems[1].nqn: "nqn.2026-01.org.example:a" is given twice', result.stderr)

    def test_duplicate_nsid(self):
        path = self.write_config(changed(lambda c: c["subsystems"][0]["namespaces"].append(
            c["subsystems"][0]["namespaces"][0])))
        result = run("--config", path)
        self.assertEqual(result.returncode, 2)
        self.assertIn("subsystems[0].namespaces[1].nsid: namespace 1 is given twice", result.stderr)

    def test_ports_that_collide(self):
        def two(**second):
            def edit(config):
                first = config["ports"][0]
                first["addr"]["trsvcid"] = "4420"
                config["ports"].append({**first, **second})
            return self.write_config(changed(edit))

        for second, message in (
                ({}, "ports[1].portid: port 1 is given twice; allowed: once"),
                ({"portid": 2}, "ports[1].addr.trsvcid: address 127.0.0.1 port 4420 is that of ports[0] "
                 "as well; allowed: a port of its own, or 0 for any free one")):
            with self.subTest(second=second):
                result = run("--config", two(**second))
                self.assertEqual(result.returncode, 2)
                self.assertIn(message, result.stderr)

    def test_disabled_namespace_is_neither_opened_nor_listed(self):
        path = self.write_config(changed(lambda c: c["subsystems"][0]["namespaces"].append(
            {"device": {"path": "/nonexistent/disk"}, "enable": 0, "nsid": 2})))
        with self.serving("--config", path) as daemon:
            self.assertEqual([n["nsid"] for n in daemon.ready["subsystems"][0]["namespaces"]], [1])

    def test_namespace_file_that_cannot_be_opened(self):
        path = self.write_config(changed(lambda c: c["subsystems"][0]["namespaces"][0].update(
            device={"path": "/nonexistent/disk"})))
        result = run("--config", path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("subsystems[0].namespaces[0]: /nonexistent/disk: cannot open the file of a "
                      "namespace: No such file or directory", result.stderr)

    def test_two_daemons_serve_one_file_as_two_paths(self):
        disk = self.folder / "disk"

        def path(low):
            def edit(config):
                config["subsystems"][0]["attr"].update(cntlid_min=low, cntlid_max=str(low + 99))
                config["subsystems"][0]["namespaces"][0]["device"] = {
                    "path": f"file:{disk}?size=1M", "uuid": str(uuid.UUID(int=7))}
            return self.write_config(changed(edit), f"config{low}.json")

        with self.serving("--config", path(1)) as first, self.serving("--config", path(101)) as second:
            self.assertEqual(disk.stat().st_size, 1 << 20)
            self.assertEqual(*(d.ready["subsystems"][0]["namespaces"][0]["uuid"]
                               for d in (first, second)))


class Files(Case):
    def test_generated_files_are_kept_and_opened_again(self):
        arguments = ("--namespaces", 2, "--backend", f"file:{self.folder}", "--size", "1M")
        with self.serving(*arguments):
            pass
        image = self.folder / "subsystem1-namespace2.img"
        self.assertEqual(image.stat().st_size, 1 << 20)
        image.write_bytes(b"\x5a" * (1 << 20))
        with self.serving(*arguments):
            pass
        self.assertEqual(image.read_bytes(), b"\x5a" * (1 << 20))

    def test_file_of_another_size_is_not_touched(self):
        (self.folder / "subsystem1-namespace1.img").write_bytes(b"data")
        result = run("--backend", f"file:{self.folder}", "--size", "1M")
        self.assertEqual(result.returncode, 2)
        self.assertIn("file has 4 bytes, configuration says 1048576; allowed: the same size, or a "
                      "file that does not exist yet", result.stderr)
        self.assertEqual((self.folder / "subsystem1-namespace1.img").read_bytes(), b"data")

    def test_full_disk_leaves_no_file(self):
        disk = self.folder / "full"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
        if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
            self.skipTest("a file system of limited size cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=True)
        result = run("--backend", f"file:{disk}", "--size", "1M")
        self.assertEqual(result.returncode, 1)
        self.assertIn("subsystem1-namespace1.img: cannot create a file of 1048576 bytes: "
                      "No space left on device", result.stderr)
        self.assertEqual(os.listdir(disk), [])


class ReadyFile(Case):
    def test_content_of_a_generated_configuration(self):
        with self.serving("--subsystems", 2, "--paths", 2, "--namespaces", 2, "--size", "4M",
                          "--block-size", 4096, "--advertise", "10.0.2.2") as daemon:
            ready = daemon.ready
            self.assertEqual(ready["pid"], daemon.process.pid)
            self.assertEqual([p["portid"] for p in ready["ports"]], [1, 2])
            self.assertEqual({(p["adrfam"], p["listen"], p["traddr"]) for p in ready["ports"]},
                             {("ipv4", "127.0.0.1", "10.0.2.2")})
            self.assertNotEqual(*(p["trsvcid"] for p in ready["ports"]))
            nqn = "nqn.2026-01.org.lockstep:subsystem{}".format
            self.assertEqual(ready["subsystems"], [{
                "nqn": nqn(number), "serial": f"LOCKSTEP000{number}", "model": "Lockstep target",
                "ports": [1, 2],
                "namespaces": [{"nsid": nsid, "size": 4 << 20, "block_size": 4096,
                                "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{nqn(number)}/{nsid}"))}
                               for nsid in (1, 2)]} for number in (1, 2)])

    def test_gone_after_the_end_and_status_0(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                daemon = Daemon(self.folder, "--subsystems", 1)
                self.assertEqual(daemon.end(number), 0)
                self.assertFalse(daemon.ready_path.exists())

    def test_that_cannot_be_written(self):
        result = run("--subsystems", 1, "--ready-file", "/nonexistent/ready.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--ready-file: ", result.stderr)
        self.assertIn("/nonexistent/ready.json", result.stderr)

    def test_many_free_ports_are_distinct(self):
        with self.serving("--paths", 32) as daemon:
            self.assertEqual(len(set(daemon.ports())), 32)


class Listening(Case):
    def test_port_in_use(self):
        with self.serving("--subsystems", 1) as daemon:
            port = daemon.ports()[0]
            result = run("--subsystems", 1, "--listen", f"127.0.0.1:{port}")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, f"target-sim: error: cannot listen on 127.0.0.1:{port} "
                         "(path 1): Address already in use; port 0 takes any free one\n")

    def test_address_of_another_machine(self):
        result = run("--subsystems", 1, "--listen", "192.0.2.1:4420")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot listen on 192.0.2.1:4420 (path 1): ", result.stderr)

    def test_paths_count_the_port_up(self):
        port = free_ports(2)
        with self.serving("--paths", 2, "--listen", f"127.0.0.1:{port}") as daemon:
            self.assertEqual(daemon.ports(), [port, port + 1])

    def test_port_is_free_again_at_once(self):
        port = free_ports()
        for _ in range(3):
            with self.serving("--paths", 1, "--listen", f"127.0.0.1:{port}") as daemon:
                with daemon.connect() as sock:
                    handshake(sock)

    def test_each_listener_is_reported(self):
        daemon = Daemon(self.folder, "--paths", 2)
        daemon.end()
        for path, port in enumerate(daemon.ports(), 1):
            self.assertIn(f"target-sim: listening on 127.0.0.1:{port} (path {path})\n", daemon.log)

    def test_log_level_error_is_silent(self):
        daemon = Daemon(self.folder, "--subsystems", 1, "--log", "error")
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(daemon.log, "")

    def test_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6) as sock:
                sock.bind(("::1", 0))
        except OSError as error:
            self.skipTest(f"no IPv6 here: {error}")
        with self.serving("--paths", 1, "--listen", "[::1]:0") as daemon:
            self.assertEqual(daemon.ready["ports"][0]["adrfam"], "ipv6")
            with daemon.connect() as sock:
                handshake(sock)


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

    def test_sigterm_with_connections_open(self):
        daemon = Daemon(self.folder, "--subsystems", 1)
        with daemon.connect() as live, daemon.connect():
            handshake(live)
            began = time.monotonic()
            self.assertEqual(daemon.end(), 0)
            self.assertLess(time.monotonic() - began, 5)
            self.assertEqual(receive(live, 1), b"")


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


def running(pid):
    """Neither gone nor a zombie that nobody waits for."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


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
