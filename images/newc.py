# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes cpio archives in the "newc" format that Linux unpacks as its initramfs.

What goes into an archive is not decided here (build-image does that).
Format: Documentation/driver-api/early-userspace/buffer-format.rst of Linux.
"""
import posixpath
import stat

MAGIC = b"070701"
TRAILER = "TRAILER!!!"
ALIGN = 4               # of names and data, counted from the start of the archive
ARCHIVE_ALIGN = 512     # so that another archive may be appended


def is_plain(name):
    """Whether name is absolute and has no empty, "." or ".." part."""
    return name[:1] == "/" and not {"", ".", ".."} & set(name[1:].split("/"))


class Archive:
    """A file system tree that becomes an archive whose bytes depend on the tree alone.

    Everything belongs to root, has time 0 and numbers in the order of names, so
    neither the builder's user nor the order of additions nor a clock shows.
    Names are absolute ("/etc/passwd"); missing parent directories are made.
    """

    def __init__(self):
        self._entries = {}      # name -> (mode, data, (rdev major, rdev minor))

    def __contains__(self, name):
        return name in self._entries

    def _add(self, name, mode, data=b"", rdev=(0, 0)):
        if not is_plain(name):
            raise ValueError(f"'{name}' is not a plain absolute name")
        if name in self._entries and self._entries[name] != (mode, data, rdev):
            raise ValueError(f"two different entries want to be {name}")
        parent = posixpath.dirname(name)
        if parent != "/":
            kind = stat.S_IFMT(self._entries.get(parent, (stat.S_IFDIR,))[0])
            if kind != stat.S_IFDIR:
                raise ValueError(f"{name} is below {parent}, which is no directory")
            if parent not in self._entries:
                self.directory(parent)
        self._entries[name] = (mode, data, rdev)

    def directory(self, name, permissions=0o755):
        self._add(name, stat.S_IFDIR | permissions)

    def file(self, name, data, executable=False):
        """Adds a regular file with the given bytes."""
        self._add(name, stat.S_IFREG | (0o755 if executable else 0o644), data)

    def symlink(self, name, target):
        self._add(name, stat.S_IFLNK | 0o777, target.encode())

    def character_device(self, name, major, minor, permissions=0o600):
        self._add(name, stat.S_IFCHR | permissions, rdev=(major, minor))

    def __bytes__(self):
        parts, size = [], 0
        for number, name in enumerate(sorted(self._entries), start=1):
            mode, data, rdev = self._entries[name]
            parts.append(record(number, name[1:], mode, data, rdev))
            size += len(parts[-1])
        parts.append(record(0, TRAILER, 0))
        size += len(parts[-1])
        parts.append(bytes(-size % ARCHIVE_ALIGN))
        return b"".join(parts)


def record(number, name, mode, data=b"", rdev=(0, 0)):
    """One member: header, name and data, each filled up with zeros to the alignment.

    number: inode number; it only has to differ, as no two names share an inode.
    """
    encoded = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (number, mode, 0, 0, links, 0, len(data), 0, 0, *rdev, len(encoded), 0)
    head = MAGIC + b"".join(b"%08x" % f for f in fields) + encoded
    return head + bytes(-len(head) % ALIGN) + data + bytes(-len(data) % ALIGN)
