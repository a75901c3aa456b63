# SPDX-License-Identifier: GPL-2.0-or-later
"""target-sim's command line, configuration file, files, ready file and listeners: values and messages."""
import os
import signal
import socket
import subprocess
import uuid

import initiator
from harness import CONFIG, TARGET_SIM, Case, Daemon, changed, free_ports, run
from initiator import handshake


class CommandLine(Case):
    def test_help_lists_every_option(self):
        result = run("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for option in ("config subsystems paths namespaces size block-size backend listen advertise "
                       "inline-data-size max-queue-size max-queues resv-enable ana media ready-file state seed log "
                       "die-with-parent help version").split():
            self.assertIn(f"\n  --{option}", result.stdout)
        self.assertIn("Examples:", result.stdout)

    def test_version(self):
        result = run("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^target-sim \d+\.\d+\.\d+\n$")

    def test_a_ready_file_that_cannot_be_written_is_named_before_anything_listens(self):
        for path, why in (("/nonexistent/ready.json", "No such file or directory"), (str(self.folder), "Is a directory")):
            with self.subTest(path):
                result = run("--subsystems", "1", "--size", "1M", "--ready-file", path)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stderr, f"target-sim: error: --ready-file {path}: {why}\n")

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
            ("--resv-enable", "yes", number(0, 1)),
            ("--ana", "good", "optimized, non-optimized, inaccessible, persistent-loss or change; "
             "one for all paths, or one per path separated by commas"),
            ("--media", "disk", "PRESET[,key=value...], PRESET one of null, ram, p3700, tlc, optane"),
            ("--media", "tlc,page=1", "page from 4096 to 1048576, with suffix K, M or G"),
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

    def test_endless_file_is_refused_before_memory_ends(self):
        self.refused(2, "/dev/zero: file has over 16777216 bytes; allowed: at most 16777216",
                     "--config", "/dev/zero")

    def test_from_a_pipe(self):
        end, start = os.pipe()
        os.write(start, b"[]")
        os.close(start)
        result = subprocess.run([TARGET_SIM, "--config", f"/dev/fd/{end}"], pass_fds=[end], timeout=20,
                                capture_output=True, text=True, check=False)
        os.close(end)
        self.assertIn(f"/dev/fd/{end}: the file has something before or behind the object", result.stderr)

    def test_folder_is_refused(self):
        self.refused(1, f"--config: {self.folder}: Is a directory", "--config", self.folder)

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
                     'value is "256M"); allowed keys here: eui64, nguid, path, uuid', "--config", path)

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


if __name__ == "__main__":
    import tap
    tap.main()
