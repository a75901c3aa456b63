# SPDX-License-Identifier: GPL-2.0-or-later
#
# Here: the guest image's tools: archive format, library search, assembly from an
# invented user land, and the built image twice. Not here: what the guest does.
# Standards: Linux early-userspace/buffer-format.rst (newc); System V ABI (ELF).
import contextlib
import hashlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import tap

sys.dont_write_bytecode = True
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
IMAGES = REPOSITORY / "images"
BUILD = pathlib.Path(os.environ.get("LOCKSTEP_BUILD", REPOSITORY / "build"))
sys.path.insert(0, str(IMAGES))
import elf      # noqa: E402
import newc     # noqa: E402


def loaded(tool):
    """A tool of images/ as a module; their names have no .py."""
    loader = importlib.machinery.SourceFileLoader(tool.replace("-", "_"), str(IMAGES / tool))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


build_kernel = loaded("build-kernel")

# buffer-format.rst: magic of 6 bytes, then 13 fields of 8 hexadecimal digits
HEADER_SIZE = 6 + 13 * 8
FIELDS = ("ino", "mode", "uid", "gid", "nlink", "mtime", "filesize", "maj", "min",
          "rmaj", "rmin", "namesize", "chksum")


def members(archive):
    """[(name, {field: number}, data)] up to the trailer, by the published format."""
    result, at = [], 0
    while True:
        head = archive[at:at + HEADER_SIZE]
        assert head[:6] == b"070701", head
        field = {n: int(head[6 + 8 * i:14 + 8 * i], 16) for i, n in enumerate(FIELDS)}
        name = archive[at + HEADER_SIZE:at + HEADER_SIZE + field["namesize"]]
        assert name.endswith(b"\0"), name
        at = (at + HEADER_SIZE + field["namesize"] + 3) // 4 * 4
        data = archive[at:at + field["filesize"]]
        at = (at + field["filesize"] + 3) // 4 * 4
        if name == b"TRAILER!!!\0":
            return result
        result.append((name[:-1].decode(), field, data))


def invented_elf(loader, libraries, padding=0):
    """A 64-bit ELF file of headers, loader name and dynamic section, mapped at 0x400000."""
    base, strings, needed = 0x400000, b"\0", []
    for name in libraries:
        needed.append(len(strings))
        strings += name.encode() + b"\0"
    interp = loader.encode() + b"\0"
    at_interp = 64 + 3 * 56 + padding
    at_strings = at_interp + len(interp)
    at_dynamic = at_strings + len(strings)
    dynamic = b"".join(struct.pack("<QQ", 1, n) for n in needed)
    dynamic += struct.pack("<QQQQ", 5, base + at_strings, 0, 0)
    total = at_dynamic + len(dynamic)
    header = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 2, 62, 1, 0, 64, 0, 0,
                         64, 56, 3, 0, 0, 0)

    def segment(kind, at, size):
        return struct.pack("<IIQQQQQQ", kind, 4, at, base + at, base + at, size, size, 1)
    return (header + segment(3, at_interp, len(interp)) + segment(1, 0, total)
            + segment(2, at_dynamic, len(dynamic)) + bytes(padding) + interp + strings + dynamic)


class Newc(unittest.TestCase):
    def setUp(self):
        self.archive = newc.Archive()

    def read(self):
        return members(bytes(self.archive))

    def test_record_of_a_file_has_the_published_header(self):
        got = newc.record(7, "etc/x", 0o100644, b"abcde")
        want = (b"070701" + b"00000007" + b"000081a4" + b"00000000" * 2 + b"00000001" + b"00000000"
                + b"00000005" + b"00000000" * 4 + b"00000006" + b"00000000" + b"etc/x\0" + b"abcde\0\0\0")
        # 110 bytes of header and 6 of name are a multiple of 4; 5 bytes of data need 3 more
        self.assertEqual(got, want)

    def test_name_and_data_start_at_multiples_of_four(self):
        for length in range(1, 9):
            got = newc.record(1, "n" * length, 0o100644, b"d")
            self.assertEqual(len(got), (110 + length + 1 + 3) // 4 * 4 + 4, length)

    def test_entries_are_sorted_and_numbered_in_that_order(self):
        for name in ("/b", "/a/z", "/a-b", "/a/y"):
            self.archive.file(name, b"")
        self.assertEqual([m[0] for m in self.read()], ["a", "a-b", "a/y", "a/z", "b"])
        self.assertEqual([m[1]["ino"] for m in self.read()], [1, 2, 3, 4, 5])

    def test_parents_come_before_their_children(self):
        self.archive.file("/x/y/z", b"1")
        self.assertEqual([m[0] for m in self.read()], ["x", "x/y", "x/y/z"])
        self.assertEqual(self.read()[0][1]["mode"], 0o040755)

    def test_everything_is_roots_and_of_time_zero(self):
        self.archive.file("/f", b"1")
        self.archive.symlink("/l", "f")
        for _, field, _ in self.read():
            self.assertEqual((field["uid"], field["gid"], field["mtime"]), (0, 0, 0))

    def test_file_modes_are_0644_and_0755(self):
        self.archive.file("/data", b"")
        self.archive.file("/run", b"", executable=True)
        self.assertEqual([m[1]["mode"] for m in self.read()], [0o100644, 0o100755])

    def test_symlink_has_its_target_as_data(self):
        self.archive.symlink("/bin", "usr/bin")
        (name, field, data), = self.read()
        self.assertEqual((name, field["mode"], data), ("bin", 0o120777, b"usr/bin"))

    def test_device_has_its_numbers(self):
        self.archive.character_device("/console", 5, 1)
        (_, field, _), = self.read()
        self.assertEqual((field["mode"], field["rmaj"], field["rmin"]), (0o020600, 5, 1))

    def test_bytes_do_not_depend_on_the_order_of_additions(self):
        other = newc.Archive()
        for name in ("/a", "/b/c"):
            self.archive.file(name, name.encode())
        for name in ("/b/c", "/a"):
            other.file(name, name.encode())
        self.assertEqual(bytes(self.archive), bytes(other))

    def test_archive_ends_at_a_multiple_of_512(self):
        self.archive.file("/a", bytes(777))
        self.assertEqual(len(bytes(self.archive)) % 512, 0)

    def test_same_name_with_other_content_is_refused(self):
        self.archive.file("/a", b"1")
        self.archive.file("/a", b"1")
        with self.assertRaisesRegex(ValueError, "/a"):
            self.archive.file("/a", b"2")

    def test_file_below_a_file_is_refused(self):
        self.archive.symlink("/bin", "usr/bin")
        with self.assertRaisesRegex(ValueError, "/bin"):
            self.archive.file("/bin/sh", b"")

    def test_relative_and_dotted_names_are_refused(self):
        for name in ("a", "/a/../b", "/a/", "//a"):
            with self.assertRaises(ValueError, msg=name):
                self.archive.file(name, b"")

    @unittest.skipUnless(shutil.which("cpio"), "cpio is not installed")
    def test_cpio_lists_the_archive(self):
        self.archive.file("/etc/passwd", b"root\n")
        self.archive.symlink("/bin", "usr/bin")
        done = subprocess.run(["cpio", "-t"], input=bytes(self.archive), capture_output=True, check=True)
        self.assertEqual(done.stdout.split(), [b"bin", b"etc", b"etc/passwd"])


class Elf(unittest.TestCase):
    def test_dynamic_program_names_loader_and_libraries(self):
        for padding in (0, 16, 4096):
            data = invented_elf("/lib64/ld.so", ["liba.so.1", "libc.so.6"], padding)
            self.assertEqual(elf.requirements(data), ("/lib64/ld.so", ["liba.so.1", "libc.so.6"]))

    def test_script_needs_nothing(self):
        self.assertEqual(elf.requirements(b"#!/bin/sh\n"), (None, []))

    def test_static_program_needs_nothing(self):
        data = bytearray(invented_elf("/l", []))
        data[56:58] = struct.pack("<H", 0)      # e_phnum
        self.assertEqual(elf.requirements(bytes(data)), (None, []))

    def test_32_bit_program_is_refused(self):
        data = bytearray(invented_elf("/l", []))
        data[4] = 1                             # EI_CLASS: ELFCLASS32
        with self.assertRaises(ValueError):
            elf.requirements(bytes(data))


class Assembly(unittest.TestCase):
    """build-image on a user land, a kernel and programs that are invented."""
    RELEASE = "6.12.1-lockstep"

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = pathlib.Path(scratch.name)
        for line in (IMAGES / "userland.files").read_text().splitlines():
            name = line.split("#")[0].strip()
            if name:
                self.write(f"userland{name}", invented_elf("/lib64/ld.so", ["libx.so.1"]), 0o755)
        self.write("userland/usr/bin/busybox", b"#!/bin/sh\necho ls\necho ip\n", 0o755)
        self.write("userland/usr/lib64/ld.so", b"loader", 0o755)
        self.write("userland/usr/lib/x86_64-linux-gnu/libx.so.1.2", invented_elf("/lib64/ld.so", []))
        (self.top / "userland/usr/lib/x86_64-linux-gnu/libx.so.1").symlink_to("libx.so.1.2")
        self.write("kernel/include/config/kernel.release", self.RELEASE.encode() + b"\n")
        for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo", "System.map"):
            self.write(f"kernel/{name}", b"")
        for name in ("fio/fio", "fio/io_uring", "lsctl"):
            self.write(name, b"static", 0o755)
        (self.top / "modules").mkdir()

    def write(self, name, data, mode=0o644):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)

    def build(self, *options, lsctl=("--lsctl", "lsctl")):
        done = subprocess.run([sys.executable, IMAGES / "build-image", "--kernel", "kernel", "--modules", "modules",
                               "--userland", "userland", "--fio", "fio", *lsctl, "--out", "out/image", *options],
                              cwd=self.top, capture_output=True, text=True)
        return done

    def image(self, *options, **keywords):
        done = self.build(*options, **keywords)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {name: (field, data) for name, field, data in
                members((self.top / "out/image").read_bytes())}

    def refused(self, *options, says, **keywords):
        done = self.build(*options, **keywords)
        self.assertNotEqual(done.returncode, 0)
        for text in says:
            self.assertIn(text, done.stderr)
        self.assertFalse((self.top / "out/image").exists())

    def test_library_and_loader_follow_their_program(self):
        image = self.image()
        self.assertEqual(image["usr/lib64/ld.so"][1], b"loader")
        # under the name that programs ask for, as the content of what the link names
        self.assertEqual(image["usr/lib/x86_64-linux-gnu/libx.so.1"][0]["mode"], 0o100644)
        self.assertNotIn("usr/lib/x86_64-linux-gnu/libx.so.1.2", image)

    def test_missing_library_is_named_with_its_program(self):
        (self.top / "userland/usr/lib/x86_64-linux-gnu/libx.so.1.2").unlink()
        self.refused(says=["libx.so.1", "/usr/bin/bash", "userland.packages"])

    def test_missing_program_is_named(self):
        (self.top / "userland/usr/sbin/nvme").unlink()
        self.refused(says=["/usr/sbin/nvme", "userland.packages"])

    def test_link_that_leaves_the_userland_is_refused(self):
        (self.top / "userland/usr/sbin/nvme").unlink()
        (self.top / "userland/usr/sbin/nvme").symlink_to("/etc/passwd")
        self.refused(says=["usr/sbin/nvme"])

    def test_busybox_gives_the_commands_that_nothing_else_gives(self):
        image = self.image()
        self.assertEqual(image["usr/bin/ls"][1], b"busybox")
        self.assertEqual(image["usr/bin/ip"][0]["mode"], 0o100755)

    def test_extra_file_gets_its_name_mode_and_libraries(self):
        self.write("tool", invented_elf("/lib64/ld.so", ["liby.so"]), 0o755)
        self.refused("--extra", "tool=/bin/tool", says=["/usr/bin/tool", "liby.so"])
        self.write("userland/usr/lib/liby.so", b"library")
        image = self.image("--extra", "tool=/bin/tool")
        self.assertEqual(image["usr/bin/tool"][0]["mode"], 0o100755)
        self.assertEqual(image["usr/lib/liby.so"][1], b"library")

    def test_extra_without_a_guest_name_is_refused(self):
        for text in ("tool", "tool=", "tool=bin/tool", "=/bin/tool", "tool=/a/../b"):
            self.refused("--extra", text, says=["--extra", text, "FILE=/PATH"])

    def test_extra_with_a_name_in_use_is_refused(self):
        self.refused("--extra", "lsctl=/bin/bash", says=["/usr/bin/bash"])

    def test_absent_lsctl_is_refused_unless_asked_for(self):
        (self.top / "lsctl").unlink()
        self.refused(says=["lsctl"])
        self.assertNotIn("usr/bin/lsctl", self.image(lsctl=["--without-lsctl"]))

    def test_kernel_that_is_not_built_is_refused(self):
        shutil.rmtree(self.top / "kernel")
        self.refused(says=["kernel", "build-kernel"])

    def test_module_of_another_kernel_is_refused(self):
        self.write("modules/x.ko", b"\0vermagic=6.1.0 SMP \0")
        self.refused(says=["x.ko", "6.1.0", self.RELEASE])

    def test_init_and_console_are_there(self):
        image = self.image()
        self.assertEqual(image["init"][0]["mode"], 0o100755)
        self.assertEqual((image["dev/console"][0]["rmaj"], image["dev/console"][0]["rmin"]), (5, 1))

    def test_host_identifier_is_the_uuid_of_the_host_nqn(self):
        image = self.image()
        nqn, identifier = (image[f"etc/nvme/{n}"][1].decode().strip() for n in ("hostnqn", "hostid"))
        self.assertEqual(nqn, "nqn.2014-08.org.nvmexpress:uuid:" + identifier)

    def test_failure_leaves_the_former_image(self):
        self.image()
        before = (self.top / "out/image").read_bytes()
        (self.top / "fio/fio").unlink()
        self.assertNotEqual(self.build().returncode, 0)
        self.assertEqual((self.top / "out/image").read_bytes(), before)
        self.assertEqual(os.listdir(self.top / "out"), ["image"])


class Reproducibility(unittest.TestCase):
    NEEDED = ("kernel/modules.order", "guest-driver", "userland/usr/bin/bash", "fio/fio", "images/lsctl/lsctl")

    def test_two_builds_in_two_folders_are_equal(self):
        missing = [n for n in self.NEEDED if not (BUILD / n).exists()]
        if missing:
            self.skipTest(f"{BUILD / missing[0]} is not built")
        digests = set()
        for umask in (0o022, 0o077):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([sys.executable, IMAGES / "build-image", "--kernel", BUILD / "kernel",
                                "--modules", BUILD / "guest-driver", "--userland", BUILD / "userland",
                                "--fio", BUILD / "fio", "--lsctl", BUILD / "images/lsctl/lsctl",
                                "--out", f"{folder}/image"], check=True, umask=umask, stdout=subprocess.DEVNULL)
                digests.add(hashlib.sha256(pathlib.Path(folder, "image").read_bytes()).hexdigest())
        self.assertEqual(len(digests), 1, digests)


class KernelConfig(unittest.TestCase):
    """What build-kernel says to what Kconfig made of the fragments."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.tree = pathlib.Path(scratch.name)
        (self.tree / "Kconfig").write_text("config A\n\tbool\nmenuconfig B\nconfig PREEMPT_VOLUNTARY\n")

    def check(self, version, got, base, extra=""):
        """Returns the notes; raises Wrong."""
        def parsed(text):
            (self.tree / "fragment").write_text(text)
            return build_kernel.read_config(self.tree / "fragment")
        (self.tree / ".config").write_text(got)
        with contextlib.redirect_stdout(io.StringIO()) as notes:
            build_kernel.check_config(self.tree, version, parsed(base) | parsed(extra), parsed(extra))
        return notes.getvalue()

    def refused(self, says, *case):
        with self.assertRaisesRegex(build_kernel.Wrong, says):
            self.check(*case)

    def test_honoured_lines_say_nothing(self):
        got = "CONFIG_A=y\n# CONFIG_B is not set\n"
        for base in ("CONFIG_A=y\n", "# CONFIG_B is not set\n", "CONFIG_B=n\n", "# CONFIG_NONE is not set\n"):
            self.assertEqual(self.check((6, 12, 1), got, base), "", base)

    def test_lost_option_is_named_with_what_it_became(self):
        for version in ((6, 12, 1), (7, 0, 0)):
            self.refused("CONFIG_A=y: became '# CONFIG_A is not set'", version, "", "CONFIG_A=y\n")

    def test_builtin_in_place_of_module_is_named(self):
        self.refused("CONFIG_B=m: became 'CONFIG_B=y'", (6, 12, 1), "CONFIG_B=y\n", "CONFIG_B=m\n")

    def test_unknown_option_is_an_error_for_the_kernel_the_fragment_is_for(self):
        self.refused("CONFIG_C=y: Linux 6.12.1 has no such option", (6, 12, 1), "", "CONFIG_C=y\n")

    def test_unknown_option_of_ours_is_a_note_for_a_later_kernel(self):
        self.assertIn("CONFIG_C=y: Linux 6.13.0 has no such option", self.check((6, 13, 0), "", "CONFIG_C=y\n"))

    def test_unknown_option_of_the_user_is_always_an_error(self):
        self.refused("CONFIG_C=y: Linux 6.13.0", (6, 13, 0), "", "", "CONFIG_C=y\n")

    def test_preemption_model_that_later_kernels_gave_up_is_a_note_there(self):
        self.assertIn("PREEMPT_VOLUNTARY", self.check((7, 0, 0), "", "CONFIG_PREEMPT_VOLUNTARY=y\n"))
        self.refused("PREEMPT_VOLUNTARY", (6, 12, 1), "", "CONFIG_PREEMPT_VOLUNTARY=y\n")

    def test_line_of_the_user_wins(self):
        self.assertEqual(self.check((6, 12, 1), "CONFIG_A=y\n", "# CONFIG_A is not set\n", "CONFIG_A=y\n"), "")


class Kernel(unittest.TestCase):
    """What build-kernel refuses before it builds anything."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.tree = pathlib.Path(scratch.name)

    def refused(self, *options, says):
        done = subprocess.run([sys.executable, IMAGES / "build-kernel", "--tree", self.tree, *options],
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        for text in says:
            self.assertIn(text, done.stderr)

    def linux(self, version, patch_level, sub_level):
        (self.tree / "Makefile").write_text(
            f"VERSION = {version}\nPATCHLEVEL = {patch_level}\nSUBLEVEL = {sub_level}\nEXTRAVERSION =\n")
        (self.tree / "Kconfig").write_text("")

    def test_folder_without_makefile_is_no_kernel(self):
        self.refused(says=[str(self.tree), "not a Linux source tree"])

    def test_other_project_is_no_kernel(self):
        (self.tree / "Makefile").write_text("all:\n")
        self.refused(says=[str(self.tree), "not a Linux source tree"])

    def test_too_old_kernel_is_named_with_its_version(self):
        self.linux(6, 11, 9)
        self.refused(says=["6.11.9", "6.12"])

    def test_line_that_is_no_option_is_named_with_its_place(self):
        self.linux(6, 12, 1)
        (self.tree / "x.config").write_text("# comment\nCONFIG_A=y\nNVME=m\n")
        self.refused("--extra-config", str(self.tree / "x.config"), says=["x.config:3", "NVME=m", "CONFIG_NAME=VALUE"])

    def test_absent_fragment_is_named(self):
        self.refused("--extra-config", "/nonexistent", says=["--extra-config", "/nonexistent"])


if __name__ == "__main__":
    tap.main()
