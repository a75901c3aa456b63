# SPDX-License-Identifier: GPL-2.0-or-later
#
# Here: hw/qemu/hooks on a small invented tree: what it writes, refuses and takes back.
# Not here: whether our own anchors fit a real QEMU (hw/qemu/build finds that out).
# Standard: none.
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import tap

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
HOOKS = REPOSITORY / "hw/qemu/hooks"
MESON = "subdir('usb')\nsubdir('watchdog')\nsubdir('xen')\n"
SOURCE = "int a;\nint main(void)\n{\n    return 0;\n}\n"

TABLE = """
qemu = "10.0"
[[link]]
name = "sources"
path = "hw/lockstep"
target = "hw"
[[hook]]
name = "build-line"
file = "hw/meson.build"
after = "subdir('watchdog')"
text = "subdir('lockstep')"
"""

HOOKED = ("subdir('usb')\nsubdir('watchdog')\n"
          "# lockstep hook begin: build-line\nsubdir('lockstep')\n"
          "# lockstep hook end: build-line\n"
          "subdir('xen')\n")


def hook(name, where, text, file="main.c"):
    return f'[[hook]]\nname="{name}"\nfile="{file}"\n{where}\ntext="{text}"\n'


class HooksTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.tree = pathlib.Path(directory.name) / "qemu"
        (self.tree / "hw").mkdir(parents=True)
        self.table = pathlib.Path(directory.name) / "hooks.toml"
        self.table.write_text(TABLE)
        self.write("VERSION", "10.0.13\n")
        self.write("configure", "#!/bin/sh\n")
        self.write("meson.build", "project('qemu')\n")
        self.write("hw/meson.build", MESON)
        self.write("main.c", SOURCE)

    def write(self, name, text):
        (self.tree / name).write_text(text)

    def read(self, name):
        return (self.tree / name).read_text()

    def run_hooks(self, *arguments, source=None):
        return subprocess.run(
            [sys.executable, HOOKS, "--table", self.table, "--source", source or self.tree,
             *arguments], text=True, capture_output=True, check=False)

    def apply(self):
        result = self.run_hooks()
        self.assertEqual((result.stderr, result.returncode), ("", 0))
        return result

    def assert_fails(self, result, *parts):
        self.assertEqual(result.returncode, 1)
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_apply_puts_block_after_anchor_and_makes_link(self):
        self.apply()
        self.assertEqual(self.read("hw/meson.build"), HOOKED)
        self.assertTrue((self.tree / "hw/lockstep").is_symlink())
        self.assertEqual((self.tree / "hw/lockstep").resolve(), REPOSITORY / "hw")

    def test_apply_before_anchor_in_c_uses_c_comments(self):
        self.table.write_text(TABLE + hook("early", 'before="main(void)"', "int b;"))
        self.apply()
        self.assertEqual(self.read("main.c"),
                         "int a;\n/* lockstep hook begin: early */\nint b;\n"
                         "/* lockstep hook end: early */\nint main(void)\n{\n    return 0;\n}\n")

    def test_apply_after_last_line_without_newline(self):
        self.write("main.c", "int a;\nint b;")
        self.table.write_text(TABLE + hook("late", 'after="int b;"', "int c;"))
        self.apply()
        self.assertEqual(self.read("main.c"),
                         "int a;\nint b;\n/* lockstep hook begin: late */\nint c;\n"
                         "/* lockstep hook end: late */\n")

    def test_apply_two_hooks_at_one_anchor_keeps_table_order(self):
        self.table.write_text(TABLE + hook("one", 'after="int a;"', "int one;")
                              + hook("two", 'after="int a;"', "int two;"))
        self.apply()
        text = self.read("main.c")
        self.assertLess(text.index("int one;"), text.index("int two;"))

    def test_apply_again_touches_nothing(self):
        self.apply()
        files = [self.tree / "hw/meson.build", self.tree / ".lockstep-hooks"]
        for path in files:
            os.utime(path, (1000, 1000))
        self.assertEqual(self.apply().stdout, "")
        self.assertEqual([path.stat().st_mtime for path in files], [1000, 1000])

    def test_apply_keeps_file_mode(self):
        (self.tree / "hw/meson.build").chmod(0o640)
        self.apply()
        self.assertEqual((self.tree / "hw/meson.build").stat().st_mode & 0o777, 0o640)

    def test_apply_leaves_no_temporary_file(self):
        self.apply()
        self.assertEqual(sorted(os.listdir(self.tree / "hw")), ["lockstep", "meson.build"])

    def test_changed_text_replaces_earlier_block(self):
        self.apply()
        self.table.write_text(TABLE.replace("subdir('lockstep')", "subdir('other')"))
        self.apply()
        self.assertEqual(self.read("hw/meson.build"),
                         HOOKED.replace("subdir('lockstep')", "subdir('other')"))

    def test_changed_anchor_moves_block(self):
        self.apply()
        self.table.write_text(TABLE.replace("subdir('watchdog')", "subdir('xen')"))
        self.apply()
        self.assertTrue(self.read("hw/meson.build").startswith(MESON))

    def test_dropped_hook_restores_its_file(self):
        self.table.write_text(TABLE + hook("early", 'before="main(void)"', "int b;"))
        self.apply()
        self.table.write_text(TABLE)
        self.apply()
        self.assertEqual(self.read("main.c"), SOURCE)

    def test_dropped_link_is_taken_away(self):
        self.apply()
        self.table.write_text(TABLE.replace('path = "hw/lockstep"', 'path = "hw/elsewhere"'))
        self.apply()
        self.assertEqual(sorted(os.listdir(self.tree / "hw")), ["elsewhere", "meson.build"])

    def test_updated_source_keeps_its_update(self):
        self.apply()
        self.write("hw/meson.build", "subdir('ufs')\n" + self.read("hw/meson.build"))
        self.apply()
        self.assertEqual(self.read("hw/meson.build"), "subdir('ufs')\n" + HOOKED)

    def test_remove_restores_every_file(self):
        self.apply()
        self.assertEqual(self.run_hooks("--remove").returncode, 0)
        self.assertEqual(self.read("hw/meson.build"), MESON)
        self.assertEqual(os.listdir(self.tree / "hw"), ["meson.build"])
        self.assertFalse((self.tree / ".lockstep-hooks").exists())

    def test_missing_anchor_names_hook_file_anchor_and_version(self):
        self.write("hw/meson.build", "subdir('usb')\n")
        self.assert_fails(self.run_hooks(), "build-line", "hw/meson.build",
                          "subdir('watchdog')", "10.0.13", "missing")
        self.assertEqual(self.read("hw/meson.build"), "subdir('usb')\n")
        self.assertFalse((self.tree / "hw/lockstep").exists())

    def test_ambiguous_anchor_names_hook_file_anchor_and_version(self):
        self.write("hw/meson.build", MESON + "subdir('watchdog')\n")
        self.assert_fails(self.run_hooks(), "build-line", "hw/meson.build",
                          "subdir('watchdog')", "10.0.13", "occurs 2 times")

    def test_one_bad_anchor_of_many_changes_nothing(self):
        self.table.write_text(TABLE + hook("early", 'before="no such line"', "int b;"))
        self.assert_fails(self.run_hooks(), "early", "main.c")
        self.assertEqual(self.read("hw/meson.build"), MESON)

    def test_every_bad_anchor_is_reported(self):
        self.table.write_text(TABLE + hook("one", 'before="not there"', "int b;")
                              + hook("two", 'before="nor this"', "int b;"))
        self.assert_fails(self.run_hooks(), "hook one:", "hook two:")

    def test_missing_file_names_hook_and_version(self):
        self.table.write_text(TABLE + hook("early", 'before="x"', "int b;", "gone.c"))
        self.assert_fails(self.run_hooks(), "early", "gone.c", "10.0.13")

    def test_lost_end_marker_is_refused(self):
        self.write("hw/meson.build", HOOKED.replace("# lockstep hook end: build-line\n", ""))
        self.assert_fails(self.run_hooks(), "hw/meson.build", "build-line")

    def test_check_writes_nothing(self):
        result = self.run_hooks("--check")
        self.assertEqual(result.returncode, 0)
        self.assertIn("2 places", result.stdout)
        self.assertEqual(self.read("hw/meson.build"), MESON)
        self.assertEqual(os.listdir(self.tree / "hw"), ["meson.build"])

    def test_check_after_apply_finds_all_applied(self):
        self.apply()
        self.assertIn("all is applied", self.run_hooks("--check").stdout)

    def test_check_fails_on_missing_anchor(self):
        self.write("hw/meson.build", "")
        self.assert_fails(self.run_hooks("--check"), "build-line")

    def test_list_needs_no_tree(self):
        result = subprocess.run([sys.executable, HOOKS, "--table", self.table, "--list"],
                                text=True, capture_output=True, check=True)
        self.assertIn("build-line", result.stdout)

    def test_directory_that_is_no_qemu_tree(self):
        (self.tree / "configure").unlink()
        self.assert_fails(self.run_hooks(), str(self.tree), "not a QEMU source tree")

    def test_directory_that_does_not_exist(self):
        self.assert_fails(self.run_hooks(source=self.tree / "gone"), "not a QEMU source tree")

    def test_other_version_names_both_versions(self):
        for version in ("9.2.4", "10.1.0", "100.0.1"):
            self.write("VERSION", version + "\n")
            self.assert_fails(self.run_hooks(), "10.0.x", version)

    def test_foreign_directory_in_place_of_link_is_kept(self):
        (self.tree / "hw/lockstep").mkdir()
        self.assert_fails(self.run_hooks(), "sources", "hw/lockstep")
        self.assertEqual(self.read("hw/meson.build"), MESON)

    def test_table_errors_name_the_key(self):
        for change, parts in ((("after =", "behind ="), ("build-line", "behind")),
                              (('name = "build-line"', 'name = "Build Line"'), ("Build Line",)),
                              (('name = "build-line"', 'name = "sources"'), ("sources", "twice")),
                              (("text =", 'before = "x"\ntext ='), ("build-line", "after")),
                              (('text = "subdir', 'why = "subdir'), ("build-line", "text")),
                              (('qemu = "10.0"', ""), ("qemu",)),
                              (("[[hook]]", "[[hooks]]"), ("hooks",)),
                              (("[[hook]]", "[[hook"), ("hooks.toml",))):
            with self.subTest(change=change):
                self.table.write_text(TABLE.replace(*change))
                self.assert_fails(self.run_hooks(), *parts)


if __name__ == "__main__":
    tap.main()
