# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what a 64-bit little-endian ELF file needs to run: loader and libraries.

Where those are found is not decided here. System V ABI, chapter "Dynamic Linking".
"""
import struct

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB = 1, 5
CLASS_64, DATA_LSB = 2, 1


def is_elf(data):
    return data[:4] == b"\x7fELF"


def requirements(data):
    """Returns (loader or None, [names of needed libraries]) of an ELF file's bytes.

    A static program and anything that is not ELF needs nothing. ValueError:
    an ELF file of another kind of machine.
    """
    if not is_elf(data):
        return None, []
    if data[4:6] != bytes((CLASS_64, DATA_LSB)):
        raise ValueError("not a 64-bit little-endian ELF file")
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    loads, dynamic, loader = [], None, None
    for i in range(count):
        kind, _, at, address, _, length = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        if kind == PT_LOAD:
            loads.append((address, at, length))
        elif kind == PT_DYNAMIC:
            dynamic = data[at:at + length]
        elif kind == PT_INTERP:
            loader = data[at:at + length].rstrip(b"\0").decode()
    if dynamic is None:
        return loader, []
    entries = list(struct.iter_unpack("<qQ", dynamic[:len(dynamic) // 16 * 16]))
    strings = next((v for tag, v in entries if tag == DT_STRTAB), 0)
    base = next((at + strings - start for start, at, length in loads
                 if start <= strings < start + length), None)
    if base is None:
        return loader, []
    return loader, [_string(data, base + v) for tag, v in entries if tag == DT_NEEDED]


def _string(data, at):
    return data[at:data.index(b"\0", at)].decode()
