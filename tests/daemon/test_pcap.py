# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of connections: every packet by hand (RFC 791, 1071, 8200, 9293), then all of it by tshark."""
import collections
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

import initiator
from harness import CONFIG, Case, Control, changed, wait_for

HERE = pathlib.Path(__file__).resolve().parent
NQN = CONFIG["subsystems"][0]["nqn"]
FIN, SYN, PSH, ACK = 1, 2, 8, 16
Packet = collections.namedtuple("Packet", "time source target sequence acknowledged flags data")


def checksum(data):
    """RFC 1071: 0 over what includes a right checksum."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def packets(path):
    """The packets of a capture; asserts all lengths and checksums."""
    data = path.read_bytes()
    magic, major, minor, zone, accuracy, snap, link = struct.unpack_from("<IHHiIII", data)
    assert (magic, major, minor, zone, accuracy, link) == (0xA1B23C4D, 2, 4, 0, 0, 1)
    at, result = 24, []
    while at < len(data):
        seconds, nanoseconds, captured, length = struct.unpack_from("<IIII", data, at)
        assert captured == length <= snap and nanoseconds < 10 ** 9
        frame = data[at + 16:at + 16 + captured]
        assert len(frame) == captured, "whole packets"
        at += 16 + captured
        ethertype, = struct.unpack_from(">H", frame, 12)
        if ethertype == 0x0800:
            assert frame[14] == 0x45 and frame[23] == 6 and checksum(frame[14:34]) == 0
            total, = struct.unpack_from(">H", frame, 16)
            addresses, segment = frame[26:34], frame[34:]
            assert total == len(frame) - 14
        else:
            assert ethertype == 0x86DD and frame[14] == 0x60 and frame[20] == 6
            payload, = struct.unpack_from(">H", frame, 18)
            addresses, segment = frame[22:54], frame[54:]
            assert payload == len(segment)
        assert checksum(addresses + struct.pack(">HHI", 0, 6, len(segment)) + segment) == 0
        source, target, sequence, acknowledged, offset, flags = struct.unpack_from(">HHIIBB", segment)
        result.append(Packet(seconds * 10 ** 9 + nanoseconds, source, target, sequence, acknowledged, flags,
                             segment[offset >> 4 << 2:]))
    return result


def streams(case, listed, port):
    """Bytes from the host and from the target; each packet must go on where its side stopped."""
    received, following = {True: b"", False: b""}, {}
    for packet in listed:
        from_host = packet.target == port
        case.assertEqual(packet.sequence, following.get(from_host, packet.sequence))
        if packet.flags & ACK and not from_host in following:
            following.setdefault(not from_host, packet.acknowledged)
        if packet.flags & ACK and (not from_host) in following:
            case.assertEqual(packet.acknowledged, following[not from_host])
        received[from_host] += packet.data
        following[from_host] = (packet.sequence + len(packet.data) + bool(packet.flags & (SYN | FIN))) % 2 ** 32
    case.assertEqual([p.time for p in listed], sorted(p.time for p in listed))
    return received[True], received[False]


def pdus(data):
    """Types of the PDUs of a stream, which must end with a whole one."""
    types, at = [], 0
    while at < len(data):
        kind, _, _, _, length = struct.unpack_from("<BBBBI", data, at)
        types.append(kind)
        at += length
    assert at == len(data)
    return types


class Capture(Case):
    def captures(self, count):
        files = sorted(self.folder.glob("*.pcap"), key=lambda path: int(path.stem.split("-")[1]))
        self.assertEqual(len(files), count)
        return files

    def test_a_connection_from_handshake_to_end(self):
        for family, address in (("ipv4", "127.0.0.1"), ("ipv6", "::1")):
            with self.subTest(family=family):
                for old in self.folder.glob("*.pcap"):
                    old.unlink()
                config = changed(lambda c, f=family, a=address: c["ports"][0]["addr"].update(adrfam=f, traddr=a))
                data = bytes(range(256)) * 512  # 128 KiB
                with self.serving("--config", self.write_config(config), "--pcap", self.folder) as daemon:
                    port = daemon.ports()[0]
                    with daemon.controller() as controller:
                        controller.io.write(1, 0, data)
                        self.assertEqual(controller.io.read(1, 0, len(data)), data)
                listed = packets(self.captures(2)[1])
                self.assertEqual([p.flags for p in listed[:3]], [SYN, SYN | ACK, ACK])
                self.assertEqual([p.flags for p in listed[-3:]], [FIN | ACK, FIN | ACK, ACK])
                host, target = streams(self, listed, port)
                # ICReq, Connect, Write, H2CData, Read; ICResp, response, R2T, response, C2HData.
                self.assertEqual(pdus(host), [0, 4, 4, 6, 4])
                self.assertEqual(pdus(target), [1, 5, 9, 5, 7, 5])
                self.assertIn(data, host)
                self.assertIn(data, target)

    def test_a_capture_that_begins_and_ends_in_between(self):
        control = Control(self.folder / "control")
        with self.serving("--config", self.write_config(CONFIG), "--control", control.path) as daemon, \
                daemon.controller() as controller:
            path, port = "connections/2/pcap", daemon.ports()[0]
            self.assertEqual(control.get(path), "")
            entry = initiator.sqe(initiator.WRITE, 77, 1, 512, initiator.rw_dwords(0, 1), True)
            capsule = initiator.capsule(entry, bytes(512))
            controller.io.sock.sendall(capsule[:100])  # in the middle of a PDU
            # Before: ICReq (128 bytes) and Connect (72, and 1024 of data).
            wait_for(lambda: self.received(control) == 128 + 72 + 1024 + 100, "its first part")
            control.set(path, self.folder / "one.pcap")
            self.assertEqual(control.get(path), str(self.folder / "one.pcap"))
            controller.io.sock.sendall(capsule[100:])
            initiator.receive(controller.io.sock, 24)
            controller.io.write(1, 0, bytes(512), in_capsule=True)
            control.set(path, "")
            controller.io.read(1, 0, 512)
            self.assertIn("an absolute path", control.refused("set", path, "x.pcap"))
            self.assertIn("No such file", control.refused("set", path, "/nowhere/x.pcap", status=1))
        host, target = streams(self, packets(self.folder / "one.pcap"), port)
        self.assertEqual(pdus(host), [4], "from the next whole PDU on")
        self.assertEqual(pdus(target), [5, 5])

    def received(self, control):
        return json.loads(control.run("stats", "--json"))["stats"]["connections"][1]["rx_bytes"]

    def test_folder_is_checked_at_the_start(self):
        self.refused(1, "--pcap: /nowhere: No such file or directory", "--subsystems", 1, "--pcap", "/nowhere")
        file = self.write_config(CONFIG)
        file.chmod(0o700)
        self.refused(2, f"--pcap: wrong value \"{file}\"; allowed: a folder", "--subsystems", 1, "--pcap", file)


@unittest.skipUnless(shutil.which("tshark"), "tshark is not installed")
class Tshark(Case):
    """Wireshark's NVMe/TCP dissector over all that the other tests of this folder send, but what is wrong on
    purpose (rubbish, opcodes that do not exist)."""

    SUITES = {"test_process.py": ["Data", "Drain", "Limits"], "test_control.py": ["Notices"]}

    def setUp(self):
        super().setUp()
        for suite, classes in self.SUITES.items():
            subprocess.run([sys.executable, HERE / suite, *classes], check=True, stdout=subprocess.DEVNULL,
                           env=dict(os.environ, LOCKSTEP_PCAP=str(self.folder)), timeout=120)
        captures = [path.read_bytes() for path in sorted(self.folder.glob("*.pcap"))]
        self.assertGreater(len(captures), 30)
        (self.folder / "all").write_bytes(captures[0][:24] + b"".join(data[24:] for data in captures))

    def tshark(self, *arguments):
        preferences = ["tcp.check_checksum:TRUE", "ip.check_checksum:TRUE", "nvme-tcp.check_hdgst:TRUE",
                       "nvme-tcp.check_ddgst:TRUE"]
        return subprocess.run(["tshark", "-r", self.folder / "all", "-d", "tcp.port==1-65535,nvme-tcp",
                               *[word for each in preferences for word in ("-o", each)], *arguments],
                              capture_output=True, text=True, timeout=120, check=True).stdout

    def test_nothing_is_malformed_or_unknown(self):
        types = collections.Counter(self.tshark("-T", "fields", "-e", "nvme-tcp.type").replace(",", "\n").split())
        # ICReq to R2T of NVMe/TCP 1.0, table 12, and no other.
        self.assertEqual(set(types), {"0", "1", "4", "5", "6", "7", "9"})
        self.assertGreater(sum(types.values()), 1000)
        self.assertEqual(self.tshark("-Y", "_ws.malformed || _ws.expert.severity >= warning"), "")
        unknown = [line.strip() for line in self.tshark("-V").splitlines() if "unknown" in line.lower()]
        # tshark's table of notices lacks Asymmetric Namespace Access Change and Discovery Log Page Change, its table
        # of CC.CSS all supported command sets (110b; Base 2.0, 3.1.3.5).
        lacks = ("Asynchronous Event Information: 0x03", "Asynchronous Event Information: 0xf0",
                 "IO Command Set Selected: Unknown (0x6)")
        self.assertEqual([line for line in unknown if not any(words in line for words in lacks)], [])


if __name__ == "__main__":
    import tap
    tap.main()
