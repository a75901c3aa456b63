# SPDX-License-Identifier: GPL-2.0-or-later
"""target-sim ctl: the tree of paths and values, what hosts see of changes, and hostile peers.

Paths and attributes are those of Linux' nvmet configfs; notices those of NVM Express Base 2.0,
figure 151 (Asynchronous Event Information, Notice).
"""
import contextlib
import json
import os
import pathlib
import random
import socket
import stat
import struct
import time

import initiator
from harness import CONFIG, Case, Control, Daemon, changed, run, wait_for
from initiator import receive

NQN = CONFIG["subsystems"][0]["nqn"]
NS = f"subsystems/{NQN}/namespaces/1"
# Asynchronous event type 2 (notice), information, log page to read.
NS_CHANGED, ANA_CHANGED, DISCOVERY_CHANGED = 0x040002, 0x0C0302, 0x70F002
DISCOVERY_NQN = "nqn.2014-08.org.nvmexpress.discovery"
AER, SET_FEATURES, GET_LOG = 0x0C, 0x09, 0x02


class ControlCase(Case):
    @contextlib.contextmanager
    def controlled(self, *arguments, **options):
        path = self.folder / "control"
        with self.serving(*arguments, "--control", path, **options) as daemon:
            yield daemon, Control(path)

    def with_config(self, config=CONFIG):
        return self.controlled("--config", self.write_config(config))


# Feature 0Bh: bits of the notices.
WANT_NS, WANT_ANA, WANT_DISCOVERY = 1 << 8, 1 << 11, 1 << 31


def send_event_request(queue, notices):
    """Enables notices and leaves one AER with the controller."""
    queue.command(SET_FEATURES, 0, b"", struct.pack("<II", 0x0B, notices))
    queue.sock.sendall(initiator.capsule(initiator.sqe(AER, 0x1234, 0, 0, b"", False)))


def receive_event(queue):
    answer = receive(queue.sock, 24)
    dword0, cid, status = struct.unpack_from("<I8xHH", answer, 8)
    assert (cid, status >> 1) == (0x1234, 0), answer.hex()
    return dword0


class Tree(ControlCase):
    def test_values_that_are_set_are_read_again(self):
        subsystem, port = f"subsystems/{NQN}", "ports/1"
        values = {
            f"{subsystem}/attr_allow_any_host": ("0", "1"), f"{subsystem}/attr_serial": ("S1", "S2"),
            f"{subsystem}/attr_model": ("a drive", "b"), f"{subsystem}/attr_firmware": ("9", "10"),
            f"{subsystem}/attr_version": ("1.3", "1.4", "2.0", "2.1"),
            f"{subsystem}/attr_ieee_oui": ("0x00a0b1",), f"{subsystem}/attr_cntlid_max": ("500",),
            f"{subsystem}/attr_cntlid_min": ("7",), f"{subsystem}/attr_qid_max": ("1", "1024"),
            f"{subsystem}/attr_pi_enable": ("0",), f"{subsystem}/attr_controller_model": ("static", "dynamic"),
            f"{port}/addr_treq": ("required", "not required", "not specified"), f"{port}/addr_tsas": ("none",),
            f"{port}/addr_trtype": ("tcp",), f"{port}/param_inline_data_size": ("0", "65536"),
            f"{port}/param_max_queue_size": ("16", "1024"), f"{port}/param_pi_enable": ("0",),
            f"{port}/lockstep_advertise": ("127.0.0.9", ""),
            f"{port}/ana_groups/1/ana_state": ("inaccessible", "non-optimized", "persistent-loss", "change",
                                               "optimized"),
            "limit_connections": ("5", "0"), "limit_handshake": ("1", "3600"), "limit_idle": ("86400", "0"),
            "limit_memory": ("1", "0"), f"{NS}/ana_grpid": ("128", "1"), f"{NS}/device_size": (str(4 << 20), str(1 << 20)),
            f"{NS}/enable": ("0",),
            f"{NS}/device_uuid": ("11111111-2222-3333-4444-555555555555",),
            f"{NS}/device_nguid": ("00000000-0000-0000-0000-0000000000a1",),
            f"{NS}/device_eui64": ("0102030405060708",), f"{NS}/device_path": ("null:1048576?block_size=4096",),
            f"{NS}/lockstep_media": ("p3700,channels=4", "null"),
        }
        with self.with_config() as (_, control):
            for path, choices in values.items():
                for value in choices:
                    with self.subTest(path=path, value=value):
                        control.set(path, value)
                        self.assertEqual(control.get(path), value)

    def test_every_listed_attribute_can_be_read_or_says_that_it_cannot(self):
        seen = []
        with self.with_config() as (_, control):
            def visit(path):
                for name in control.list(path):
                    below = f"{path}/{name}".strip("/")
                    if name.endswith("/"):
                        visit(below.rstrip("/"))
                    elif name not in ("revalidate_size", "lockstep_zone_state", NQN):
                        control.get(below)
                        seen.append(name)
            visit("")
            self.assertIn("revalidate_size: can only be set", control.refused("get", f"{NS}/revalidate_size"))
        # All of nvmet's (Linux 6.12) that a TCP target has; buffered_io, p2pmem and keys are not there.
        for name in ("attr_allow_any_host attr_serial attr_version attr_cntlid_min attr_cntlid_max attr_model "
                     "attr_qid_max attr_ieee_oui attr_firmware attr_pi_enable device_path device_nguid device_uuid "
                     "ana_grpid enable addr_adrfam addr_treq addr_traddr addr_trsvcid addr_trtype addr_tsas "
                     "param_inline_data_size param_max_queue_size param_pi_enable ana_state").split():
            self.assertIn(name, seen)

    def test_errors_name_path_key_value_and_what_is_allowed(self):
        subsystem = f"subsystems/{NQN}"
        with self.with_config() as (_, control):
            for verb, message, *arguments in (
                    ("get", "nothing: no 'nothing' here; there is: limit_connections, limit_handshake, "
                     "limit_idle, limit_memory, hosts/, ports/, subsystems/, connections/, faults/",
                     "nothing"),
                    ("get", f"{subsystem}: a directory, not an attribute; list shows what is in it", subsystem),
                    ("set", f"{subsystem}/attr_qid_max: attr_qid_max: '0' is not allowed: a number from 1 to 1024",
                     f"{subsystem}/attr_qid_max", "0"),
                    ("set", f"{NS}/enable: enable: 'yes' is not allowed: 0 or 1", f"{NS}/enable", "yes"),
                    ("set", f"{NS}/device_path: device_path: 'ram:2M' is not allowed: only while enable is 0",
                     f"{NS}/device_path", "ram:2M"),
                    ("set", f"{NS}/device_size: size 1000 is wrong; allowed: a multiple of the block size 512",
                     f"{NS}/device_size", "1000"),
                    ("set", "ports/1/addr_traddr: addr_traddr: '127.0.0.2' is not allowed: only while the port has "
                            "no subsystem", "ports/1/addr_traddr", "127.0.0.2"),
                    ("mkdir", f"{subsystem}: '{NQN}' is there already", subsystem),
                    ("mkdir", "ports/007: portid: '007' is not allowed: a decimal number from 0 to 65535",
                     "ports/007"),
                    ("mkdir", "ports/1/ana_groups/129: grpid: '129' is not allowed: a decimal number from 1 to 128",
                     "ports/1/ana_groups/129"),
                    ("mkdir", "frob: mkdir is not possible in a target", "frob"),
                    ("mkdir", f"subsystems/{DISCOVERY_NQN}: nqn: '{DISCOVERY_NQN}' is not allowed: not the name of "
                              "the discovery subsystem, which is always there", f"subsystems/{DISCOVERY_NQN}"),
                    ("rmdir", f"{subsystem}: still in use: rmdir namespace '1' first", subsystem),
                    ("rmdir", "ports/1/ana_groups/1: grpid: '1' is not allowed: group 1 is always there",
                     "ports/1/ana_groups/1"),
                    ("rmdir", f"ports/1: still in use: unlink subsystem '{NQN}' first", "ports/1"),
                    ("link", f"{subsystem}/allowed_hosts/h: allowed_hosts: 'h' is not allowed: a host that is in "
                             "hosts/", f"{subsystem}/allowed_hosts/h"),
                    ("link", "ports/1/subsystems/x: subsystems: 'x' is not allowed: a subsystem that is in "
                             "subsystems/", "ports/1/subsystems/x"),
                    ("unlink", f"ports/1: unlink is not possible in a list of ports", "ports/1"),
                    ("list", "ports/2: no '2' here; there is: 1/", "ports/2"),
                    ("get", "a%zz: 'a%zz' is not allowed in a path: % only as %2F (a slash) or %25", "a%zz"),
                    ("get", "get: needs a path and no value"),
                    ("set", "set: needs a path and a value", "ports/1/addr_treq")):
                with self.subTest(message=message):
                    self.assertEqual(control.refused(verb, *arguments), message)

    def test_a_name_with_a_slash_is_escaped_in_paths(self):
        with self.with_config() as (_, control):
            control.run("mkdir", "subsystems/a%2Fb%25")
            self.assertIn("a%2Fb%25/", control.list("subsystems"))
            self.assertEqual(control.get("subsystems/a%2Fb%25/attr_allow_any_host"), "0")
            control.run("rmdir", "subsystems/a%2Fb%25")

    def test_dump_makes_the_same_state_again(self):
        with self.with_config() as (_, control):
            for host in ("nqn.2026-01.org.example:h1", "h2"):
                control.run("mkdir", f"hosts/{host}")
            control.run("link", f"subsystems/{NQN}/allowed_hosts/h2")
            control.run("mkdir", "subsystems/nqn.2026-01.org.example:b")
            control.run("mkdir", "subsystems/nqn.2026-01.org.example:b/namespaces/9")
            control.run("mkdir", "subsystems/nqn.2026-01.org.example:b/namespaces/10")  # no device: not saved
            control.set("subsystems/nqn.2026-01.org.example:b/namespaces/9/device_path",
                        f"file:{self.folder}/nine?size=64K&block_size=4096")
            control.set("subsystems/nqn.2026-01.org.example:b/namespaces/9/lockstep_media", "tlc,dies=4")
            control.set("subsystems/nqn.2026-01.org.example:b/namespaces/9/device_eui64", "0102030405060708")
            control.set(f"{NS}/device_size", "2M")
            control.set(f"{NS}/ana_grpid", "3")
            control.run("mkdir", "ports/5")
            control.set("ports/5/addr_trsvcid", "0")
            control.set("ports/5/lockstep_advertise", "127.0.0.5")
            control.run("link", "ports/5/subsystems/nqn.2026-01.org.example:b")
            control.run("mkdir", "ports/5/ana_groups/3")
            control.set("ports/5/ana_groups/3/ana_state", "inaccessible")
            control.run("mkdir", "ports/5/referrals/there")
            control.set("ports/5/referrals/there/addr_traddr", "127.0.0.7")
            control.set("ports/5/referrals/there/enable", "1")
            control.run("mkdir", "ports/5/referrals/off")
            dump = control.dump()
        self.assertEqual([s["nqn"] for s in dump["subsystems"]], [NQN, "nqn.2026-01.org.example:b"])
        self.assertEqual([n["nsid"] for n in dump["subsystems"][1]["namespaces"]], [9])
        self.assertEqual(dump["subsystems"][0]["allowed_hosts"], ["h2"])
        with self.with_config(dump) as (_, control):
            self.assertEqual(control.dump(), dump)


class Notices(ControlCase):
    def test_namespace_comes_changes_and_goes(self):
        with self.with_config() as (daemon, control), daemon.controller() as controller:
            added = f"subsystems/{NQN}/namespaces/2"

            def expect_notice(change):
                send_event_request(controller.admin, WANT_NS)
                change()
                self.assertEqual(receive_event(controller.admin), NS_CHANGED)
                # Reading the log (LID 04h, 4 KiB) makes room for the next notice.
                listed = controller.admin.command(GET_LOG, 0, b"", struct.pack("<I", 0x04 | 1023 << 16),
                                                  read_length=4096)[1]
                return struct.unpack_from("<2I", listed)

            control.run("mkdir", added)
            control.set(f"{added}/device_path", "ram:64K")
            self.assertEqual(expect_notice(lambda: control.set(f"{added}/enable", 1)), (2, 0))
            controller.io.write(2, 0, b"x" * 512)
            self.assertEqual(controller.io.read(2, 0, 512), b"x" * 512)
            self.assertEqual(expect_notice(lambda: control.set(f"{added}/device_size", "128K")), (2, 0))
            self.assertEqual(controller.io.read(2, 255, 512), bytes(512))
            self.assertEqual(expect_notice(lambda: control.set(f"{added}/device_size", "64K")), (2, 0))
            with self.assertRaisesRegex(OSError, "0x4080"):  # 0/80h LBA Out of Range, do not retry
                controller.io.read(2, 255, 512)
            self.assertEqual(expect_notice(lambda: control.set(f"{added}/enable", 0)), (2, 0))
            with self.assertRaisesRegex(OSError, "0x400b"):  # 0/0Bh Invalid Namespace or Format
                controller.io.read(2, 0, 512)
            self.assertEqual(expect_notice(lambda: control.set(f"{added}/enable", 1)), (2, 0))
            self.assertEqual(controller.io.read(2, 0, 512), b"x" * 512, "hidden and shown, with its data")
            self.assertEqual(expect_notice(lambda: control.run("rmdir", added)), (2, 0))

    def test_file_that_grew_is_seen_after_revalidate_size(self):
        image = self.folder / "image"
        image.write_bytes(bytes(65536))
        config = changed(lambda c: c["subsystems"][0]["namespaces"][0]["device"].update(
            path=f"file:{image}?block_size=512"))
        with self.with_config(config) as (daemon, control), daemon.controller() as controller:
            os.truncate(image, 131072)
            self.assertEqual(control.get(f"{NS}/device_size"), "65536")
            send_event_request(controller.admin, WANT_NS)
            control.set(f"{NS}/revalidate_size", 1)
            self.assertEqual(receive_event(controller.admin), NS_CHANGED)
            self.assertEqual(control.get(f"{NS}/device_size"), "131072")
            self.assertEqual(controller.io.read(1, 255, 512), bytes(512))
            control.set(f"{NS}/device_size", "32K")
            self.assertEqual(image.stat().st_size, 32768)

    def test_ana_state(self):
        with self.with_config() as (daemon, control), daemon.controller() as controller:
            send_event_request(controller.admin, WANT_ANA)
            control.set("ports/1/ana_groups/1/ana_state", "inaccessible")
            self.assertEqual(receive_event(controller.admin), ANA_CHANGED)
            with self.assertRaisesRegex(OSError, "0x302"):  # 3/02h Asymmetric Access Inaccessible
                controller.io.read(1, 0, 512)

    def test_discovery_log(self):
        changes = [("mkdir", "subsystems/n"), ("set", "subsystems/n/attr_allow_any_host", "1"),
                   ("link", "ports/1/subsystems/n"), ("set", "ports/1/addr_treq", "required"),
                   ("mkdir", "ports/1/referrals/r"), ("set", "ports/1/referrals/r/enable", "1"),
                   ("rmdir", "ports/1/referrals/r"), ("unlink", "ports/1/subsystems/n")]
        unseen = ("subsystems/n", "ports/1/referrals/r")
        with self.with_config() as (daemon, control), \
                initiator.Queue(daemon.address(), DISCOVERY_NQN) as queue:
            queue.command(initiator.FABRICS, 0, b"", struct.pack("<B3xIQ", 0, 0x14, 1 | 6 << 16 | 4 << 20))
            for verb, *arguments in changes:
                with self.subTest(change=(verb, *arguments)):
                    if verb == "mkdir" and arguments[0] in unseen:
                        control.run(verb, *arguments)
                        continue
                    send_event_request(queue, WANT_DISCOVERY)
                    control.run(verb, *arguments)
                    self.assertEqual(receive_event(queue), DISCOVERY_CHANGED)
                    queue.command(GET_LOG, 0, b"", struct.pack("<I", 0x70 | 255 << 16), read_length=1024)

    def test_port_that_comes_serves_and_that_goes_closes(self):
        with self.with_config() as (daemon, control):
            control.run("mkdir", "ports/2")
            control.set("ports/2/addr_trsvcid", 0)
            control.run("link", f"ports/2/subsystems/{NQN}")
            address = ("127.0.0.1", int(control.get("ports/2/addr_trsvcid")))
            with initiator.Controller(address, NQN) as controller, daemon.controller() as other:
                controller.io.write(1, 0, b"y" * 512)
                control.run("unlink", f"ports/2/subsystems/{NQN}")
                self.assertEqual(receive(controller.admin.sock, 1), b"")
                self.assertEqual(other.io.read(1, 0, 512), b"y" * 512)
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(address)
            control.run("rmdir", "ports/2")

    def test_port_in_use_is_refused_and_nothing_is_linked(self):
        with self.with_config() as (daemon, control):
            control.run("mkdir", "ports/2")
            control.set("ports/2/addr_trsvcid", daemon.ports()[0])
            message = control.refused("link", f"ports/2/subsystems/{NQN}", status=1)
            self.assertRegex(message, r"cannot listen on 127.0.0.1:\d+ \(path 2\): Address already in use")
            self.assertEqual(control.list("ports/2/subsystems"), [])

    def test_host_that_is_not_allowed_any_more_is_dropped(self):
        host = initiator.host_nqn(0).decode()
        config = changed(lambda c: (c["subsystems"][0]["attr"].update(allow_any_host=0),
                                    c["hosts"].append({"nqn": host}),
                                    c["subsystems"][0]["allowed_hosts"].append(host)))
        with self.with_config(config) as (daemon, control), daemon.controller() as controller:
            self.assertIn("unlink it from the allowed_hosts", control.refused("rmdir", f"hosts/{host}"))
            control.run("unlink", f"subsystems/{NQN}/allowed_hosts/{host}")
            self.assertEqual(receive(controller.admin.sock, 1), b"")
            with self.assertRaises(OSError):
                daemon.controller()
            control.run("link", f"subsystems/{NQN}/allowed_hosts/{host}")
            with daemon.controller() as again:
                self.assertEqual(again.io.read(1, 0, 512), bytes(512))

    def test_namespace_goes_in_the_middle_of_a_write(self):
        with self.with_config() as (daemon, control), daemon.controller() as controller:
            entry = initiator.sqe(initiator.WRITE, 7, 1, 8192, initiator.rw_dwords(0, 16), False)
            for change in (("set", f"{NS}/enable", "0"), ("set", f"{NS}/device_path", "null:2M"),
                           ("rmdir", NS)):
                if change[0] == "rmdir":
                    control.set(f"{NS}/enable", 1)
                controller.io.sock.sendall(initiator.capsule(entry))
                if change[0] == "set" and change[1].endswith("device_path"):
                    self.assertEqual(self.status(controller.io), 0x400B)
                    control.run(*change)
                    continue
                kind, *_ = struct.unpack("<BBBBI", receive(controller.io.sock, 8))
                self.assertEqual(kind, initiator.R2T)
                r2t = struct.unpack_from("<HHII", receive(controller.io.sock, 16))
                control.run(*change)
                controller.io.send_data(bytes(8192), *r2t)
                self.assertEqual(self.status(controller.io), 0x400B)  # Invalid Namespace or Format

    def status(self, queue):
        return struct.unpack_from("<H", receive(queue.sock, 24), 22)[0] >> 1

    def test_closing_a_connection(self):
        with self.with_config() as (daemon, control), daemon.controller() as controller:
            ids = [name.rstrip("/") for name in control.list("connections")]
            qids = {control.get(f"connections/{number}/qid"): number for number in ids}
            self.assertEqual(sorted(qids), ["0", "1"])
            self.assertEqual(control.get(f"connections/{qids['1']}/subnqn"), NQN)
            control.run("rmdir", f"connections/{qids['1']}")
            self.assertEqual(receive(controller.io.sock, 1), b"")
            self.assertEqual(control.list("connections"), [f"{qids['0']}/"])


class Faults(ControlCase):
    def test_a_rule_comes_acts_is_saved_and_goes(self):
        with self.with_config() as (daemon, control), daemon.controller() as controller:
            control.run("mkdir", "faults/bad")
            for key, value in (("pdu", "capsule-cmd"), ("queue", "io"), ("opcode", "2"), ("action", "status"),
                               ("status", "0x281"), ("enable", "1")):
                control.set(f"faults/bad/{key}", value)
            with self.assertRaisesRegex(OSError, "status 0x281"):
                controller.io.read(1, 0, 512)
            self.assertEqual(control.get("faults/bad/fired"), "1")
            dump = control.dump()
            self.assertIn("pdu", control.refused("set", "faults/bad/pdu", "icreq"))
            control.run("rmdir", "faults/bad")
            self.assertEqual(controller.io.read(1, 0, 512), bytes(512))
        with self.with_config(dump) as (daemon, control), daemon.controller() as controller:
            with self.assertRaisesRegex(OSError, "status 0x281"):
                controller.io.read(1, 0, 512)
            self.assertEqual(control.dump(), dump)


class Peers(ControlCase):
    """Whoever may connect may still be broken: nothing of it reaches the data path."""

    def exchange(self, control, data):
        with control.connect() as sock:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while part := sock.recv(65536):
                    answer += part
            return answer

    def test_rubbish_is_answered_or_closed_and_the_next_is_served(self):
        rubbish = (b"\n\n\n", b"[]\n", b"{" * 70000 + b"\n", b"{}\n", b'{"verb": []}\n', b"\0\n",
                   b'{"verb":"get","path":"' + b"a/" * 20000 + b'"}\n', random.Random(1).randbytes(100000),
                   b'{"verb":"get","path":"hosts","path":"x"}\n', b'{"verb":"frob","extra":1}\n', b"x" * (1 << 20),
                   b'{"verb":"get","path":"%ff%fe"}\n', b'{"verb":"mkdir","path":"hosts/\\u00e9"}\n')
        with self.with_config() as (daemon, control):
            for data in rubbish:
                with self.subTest(data=data[:20]):
                    with contextlib.suppress(BrokenPipeError):
                        for line in self.exchange(control, data).splitlines():
                            self.assertFalse(json.loads(line)["ok"])
                    self.assertEqual(control.get(f"{NS}/enable"), "1")

    def test_requests_in_pieces_and_several_at_once(self):
        request = json.dumps({"verb": "get", "path": f"{NS}/enable"}).encode() + b"\n"
        with self.with_config() as (daemon, control), control.connect() as sock:
            for byte in request:
                sock.sendall(bytes([byte]))
            sock.sendall(request * 1000)
            with sock.makefile() as lines:
                for _ in range(1001):
                    self.assertEqual(json.loads(next(lines)), {"ok": True, "value": "1"})

    def test_peer_that_takes_no_answers_costs_no_host_anything(self):
        request = json.dumps({"verb": "dump"}).encode() + b"\n"
        with self.with_config() as (daemon, control), control.connect() as sock, \
                daemon.controller() as controller:
            sock.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    sock.send(request * 100)
            for lba in range(100):
                self.assertEqual(controller.io.read(1, lba, 512), bytes(512))
            self.assertEqual(control.get(f"{NS}/enable"), "1")

    def test_more_than_16_peers_are_closed_at_once(self):
        with self.with_config() as (daemon, control), contextlib.ExitStack() as stack:
            first = [stack.enter_context(control.connect()) for _ in range(16)]
            first[15].sendall(b'{"verb":"list"}\n')
            receive(first[15], 1)
            with control.connect() as last:
                self.assertEqual(receive(last, 1), b"")
            first[0].close()
            wait_for(lambda: self.answers(control), "a free place")

    def answers(self, control):
        with contextlib.suppress(OSError, ValueError), control.connect() as sock:
            sock.sendall(b'{"verb":"list"}\n')
            return json.loads(sock.makefile().readline())["ok"]
        return False

    def test_the_socket_is_the_users_alone_and_goes_at_the_end(self):
        path = self.folder / "control"
        with self.with_config():
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertFalse(path.exists())

    def test_a_stale_socket_is_replaced_and_nothing_else_is(self):
        path = self.folder / "control"
        daemon = Daemon(self.folder, "--subsystems", 1, "--control", path)
        self.addCleanup(daemon.end, 9)
        self.refused(1, f"--control: {path}: Address already in use", "--subsystems", 1, "--control", path)
        self.assertEqual(Control(path).get("subsystems/nqn.2026-01.org.lockstep:subsystem1/attr_pi_enable"), "0")
        daemon.end(9)
        with self.with_config() as (_, control):
            self.assertEqual(control.get(f"{NS}/enable"), "1")
        path.write_text("mine")
        self.refused(1, f"--control: {path}: Address already in use", "--subsystems", 1, "--control", path)
        self.assertEqual(path.read_text(), "mine")
        long = self.folder / ("x" * 120)
        self.refused(2, f"--control: wrong value \"{long}\"; allowed: a path of at most 107 bytes",
                     "--subsystems", 1, "--control", long)


class CommandLine(ControlCase):
    def check(self, status, message, *arguments):
        result = run("ctl", *arguments)
        self.assertEqual((result.returncode, result.stderr, result.stdout),
                         (status, f"target-sim: error: {message}\n", ""))

    def test_wrong_ones_say_what_is_wrong(self):
        self.check(2, "--frob: unknown option (see target-sim ctl --help)", "--frob")
        self.check(2, "--socket: needs a value (see target-sim ctl --help)", "--socket")
        self.check(2, "--socket: is missing, and $TARGET_SIM_CONTROL is not set; allowed: the path that "
                      "target-sim --control was given", "list")
        self.check(2, "ctl: a verb is missing (see target-sim ctl --help)", "--socket", "x")
        self.check(2, "ctl: wrong verb \"frob\" (see target-sim ctl --help)", "--socket", "x", "frob")
        self.check(2, "\"b\": unexpected argument of get (see target-sim ctl --help)",
                   "--socket", "x", "get", "a", "b")
        self.check(1, "--socket: /nowhere/x: No such file or directory", "--socket", "/nowhere/x", "list")
        self.check(1, f"--socket: {'x' * 108}: File name too long", "--socket", "x" * 108, "list")

    def test_help_names_each_verb(self):
        result = run("ctl", "--help")
        self.assertEqual(result.returncode, 0)
        for verb in ("get PATH", "set PATH VALUE", "list PATH", "mkdir PATH", "rmdir PATH", "link PATH",
                     "unlink PATH", "dump", "stats"):
            self.assertIn(f"  {verb}", result.stdout)

    def test_json_shows_the_answer_as_it_comes(self):
        with self.with_config() as (_, control):
            done = run("ctl", "--socket", control.path, "--json", "get", f"{NS}/enable")
            self.assertEqual(json.loads(done.stdout), {"ok": True, "value": "1"})
            done = run("ctl", "--socket", control.path, "set", f"{NS}/enable", "7", "--json")
            self.assertEqual(done.returncode, 2)
            self.assertFalse(json.loads(done.stdout)["ok"])


if __name__ == "__main__":
    import tap
    tap.main()
