# SPDX-License-Identifier: GPL-2.0-or-later
"""A host queue in as few lines as possible: what the daemon's tests need to move data.

Blocking, without digests, one command at a time unless the caller sends by itself.
NVMe/TCP 1.0 (PDUs), Fabrics 1.1 (Connect, Property Set), NVM command set (Read, Write, Flush).
"""
import socket
import struct

ICREQ, ICRESP, CAPSULE_CMD, CAPSULE_RESP, H2C_DATA, C2H_DATA, R2T = 0, 1, 4, 5, 6, 7, 9
F_LAST, F_SUCCESS = 4, 8
FLUSH, WRITE, READ, FABRICS = 0x00, 0x01, 0x02, 0x7F
IN_CAPSULE, TRANSPORT = 0x01, 0x5A  # SGL descriptor types: offset; transport data block


def host_id(host):
    return bytes(range(15)) + bytes([15 + host])


def host_nqn(host):
    return f"nqn.2014-08.org.nvmexpress:uuid:00010203-0405-0607-0809-0a0b0c0d0e{15 + host:02x}".encode()


def icreq(digests=0):
    """3.6.2.2: type, flags, HLEN, PDO, PLEN; PFV, HPDA, DGST, MAXR2T, reserved."""
    return struct.pack("<BBBBIHBBI", ICREQ, 0, 128, 0, 128, 0, 0, digests, 0) + bytes(112)


def receive(sock, length):
    """length bytes, or fewer if the peer closes."""
    data = bytearray()
    while len(data) < length:
        part = sock.recv(length - len(data))
        if not part:
            break
        data += part
    return bytes(data)


def handshake(sock, digests=0):
    sock.sendall(icreq(digests))
    return receive(sock, 128)


def sqe(opcode, cid, nsid, length, dwords, in_capsule):
    """A submission queue entry; dwords: bytes 40 to 63."""
    sgl = struct.pack("<QI3xB", 0, length, IN_CAPSULE if in_capsule else TRANSPORT)
    return struct.pack("<BBHI16x", opcode, 0x40, cid, nsid) + sgl + dwords.ljust(24, b"\0")


def capsule(entry, data=b""):
    pdo = 72 if data else 0
    return struct.pack("<BBBBI", CAPSULE_CMD, 0, 72, pdo, 72 + len(data)) + entry + data


class Queue:
    """One connection after a successful Connect."""

    def __init__(self, address, subnqn, qid=0, cntlid=0xFFFF, entries=32, seconds=20, kato_ms=0, host=0):
        self.sock = socket.create_connection(address, timeout=seconds)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        icresp = handshake(self.sock)
        if len(icresp) < 128:
            raise ConnectionError("closed before ICResp")
        assert icresp[0] == ICRESP
        self.max_h2c_data = struct.unpack_from("<I", icresp, 12)[0]
        connect = host_id(host) + struct.pack("<H", cntlid)
        connect = connect.ljust(256, b"\0") + subnqn.encode().ljust(256, b"\0") + host_nqn(host).ljust(512, b"\0")
        fields = struct.pack("<HHHBxI", 0, qid, entries - 1, 0, kato_ms)
        self.cid = 0
        self.cntlid = self.command(FABRICS, 1, connect, fields, in_capsule=True)[0] & 0xFFFF

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def command(self, opcode, nsid, data, dwords, in_capsule=False, read_length=0):
        """Returns dword 0 of the completion and the data read; raises on a status other than 0."""
        self.cid = (self.cid + 1) % 0xFFFF
        inline = data if in_capsule else b""
        self.sock.sendall(capsule(sqe(opcode, self.cid, nsid, len(data) or read_length, dwords, bool(inline)),
                                  inline))
        result = bytearray(read_length)
        while True:
            kind, flags, hlen, pdo, plen = struct.unpack("<BBBBI", receive(self.sock, 8))
            body = receive(self.sock, plen - 8)
            if kind == CAPSULE_RESP:
                dword0, status = struct.unpack_from("<I10xH", body)
                if status >> 1:
                    raise OSError(f"status {status >> 1:#x}")
                return dword0, bytes(result)
            if kind == C2H_DATA:
                offset, length = struct.unpack_from("<II", body, 4)
                result[offset:offset + length] = body[pdo - 8:pdo - 8 + length]
                if flags & F_SUCCESS:
                    return 0, bytes(result)
            elif kind == R2T:
                self.send_data(data, *struct.unpack_from("<HHII", body))
            else:
                raise OSError(f"PDU type {kind:#x}, HLEN {hlen}")

    def send_data(self, data, cccid, ttag, offset, length):
        """What an R2T asks for, in PDUs of at most MAXH2CDATA."""
        end = offset + length
        while offset < end:
            part = data[offset:min(end, offset + self.max_h2c_data)]
            last = F_LAST if offset + len(part) == end else 0
            self.sock.sendall(struct.pack("<BBBBIHHII4x", H2C_DATA, last, 24, 24, 24 + len(part),
                                          cccid, ttag, offset, len(part)) + part)
            offset += len(part)

    def write(self, nsid, lba, data, block_size=512, in_capsule=False):
        self.command(WRITE, nsid, data, rw_dwords(lba, len(data) // block_size), in_capsule)

    def read(self, nsid, lba, length, block_size=512):
        return self.command(READ, nsid, b"", rw_dwords(lba, length // block_size), read_length=length)[1]


def rw_dwords(lba, blocks):
    return struct.pack("<QH", lba, blocks - 1)


class Controller:
    """An Admin queue with the controller enabled, and one I/O queue.

    host: which of many we are; csi: for all command sets, else for NVM alone.
    """

    def __init__(self, address, subnqn, entries=128, host=0, csi=False):
        self.admin = Queue(address, subnqn, host=host)
        # Property Set of CC (14h): EN, CSS, IOSQES 6, IOCQES 4.
        cc = 1 | (6 << 4 if csi else 0) | 6 << 16 | 4 << 20
        self.admin.command(FABRICS, 0, b"", struct.pack("<B3xIQ", 0, 0x14, cc))
        self.io = Queue(address, subnqn, qid=1, cntlid=self.admin.cntlid, entries=entries, host=host)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.io.close()
        self.admin.close()
