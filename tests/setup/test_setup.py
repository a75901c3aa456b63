# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/setup: wrong values, missing rights, a full disk, damaged downloads, interruptions."""
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
sys.dont_write_bytecode = True

from lockstep import fetch, paths, trees        # noqa: E402


def setup(env=None, top=TOP):
    clean = {k: v for k, v in os.environ.items() if k not in ("QEMU_SRC", "LINUX_SRC", "KERNEL_CONFIG", "JOBS")}
    return subprocess.run([top / "scripts" / "setup", "--no-build"], env=dict(clean, **(env or {})),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


class InTemporaryFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="lockstep-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)


class WrongValues(InTemporaryFolder):
    def refused(self, variable, value, *parts):
        done = setup({variable: str(value)})
        self.assertEqual(done.returncode, 1, done.stderr)
        for part in (f"{variable}={value}", *parts):
            self.assertIn(str(part), done.stderr)

    def test_qemu_src_that_is_no_qemu_tree_is_refused(self):
        self.refused("QEMU_SRC", self.folder, "not a QEMU source tree")

    def test_qemu_src_of_another_version_is_refused_with_that_version(self):
        (self.folder / "hw").mkdir()
        (self.folder / "hw" / "meson.build").touch()
        (self.folder / "VERSION").write_text("9.2.0\n")
        self.refused("QEMU_SRC", self.folder, "9.2.0", "10.0.x")

    def test_linux_src_that_is_no_linux_tree_is_refused(self):
        self.refused("LINUX_SRC", self.folder, "not a Linux source tree")

    def test_linux_src_older_than_6_12_is_refused_with_its_version(self):
        (self.folder / "drivers/nvme/host").mkdir(parents=True)
        (self.folder / "Makefile").write_text("# SPDX\nVERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 0\n")
        self.refused("LINUX_SRC", self.folder, "6.1", "6.12")

    def test_kernel_config_that_does_not_exist_is_refused(self):
        self.refused("KERNEL_CONFIG", self.folder / "none", "no such file")

    def test_jobs_that_are_no_number_are_refused(self):
        self.refused("JOBS", "many", "1 to 1024")


class Together(InTemporaryFolder):
    def copy(self, name):
        top = self.folder / name
        for part in ("scripts", "images"):
            shutil.copytree(TOP / part, top / part)
        return top

    def test_a_path_that_the_kernel_cannot_be_built_in_is_refused_at_once(self):
        done = setup(top=self.copy("my tree"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{self.folder}/my tree: the kernel's build takes no blank", done.stderr)

    def test_a_second_setup_with_the_same_cache_says_that_it_waits(self):
        cache = self.folder / "cache"
        cache.mkdir()
        with open(cache / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            second = subprocess.Popen([self.copy("tree") / "scripts" / "setup", "--no-build"], text=True,
                                      env=dict(os.environ, LOCKSTEP_CACHE=str(cache)), stderr=subprocess.PIPE)
            self.assertEqual(second.stderr.readline(), f"[setup] waits for another setup that uses {cache}\n")
            second.terminate()
            self.assertIn("interrupted", second.communicate(timeout=20)[1])
        self.assertEqual(second.returncode, 130)

    def test_sigterm_ends_a_step_with_its_command(self):
        started = self.folder / "started"
        step = subprocess.Popen([self.copy("tree") / "scripts" / "step", "--name", "t", "--depfile", self.folder / "d",
                                 "--stamp", self.folder / "s", "--", "/bin/sh", "-c",
                                 f"echo $$ >{started}.new; mv {started}.new {started}; exec sleep 60"],
                                stderr=subprocess.DEVNULL)
        while not started.exists():
            self.assertIsNone(step.poll())
            time.sleep(0.01)
        step.terminate()
        self.assertEqual(step.wait(20), 1)
        with self.assertRaises(ProcessLookupError):
            os.killpg(int(started.read_text()), 0)


class Interrupted(InTemporaryFolder):
    NINJA = """#!/bin/sh
case " $* " in *" -n "*) exit 0 ;; esac
{step} --name t --depfile {here}/d --stamp {here}/s -- \\
    /bin/sh -c 'echo $$ >{here}/new; mv {here}/new {here}/started; {command}'
"""
    BUILD = """
import sys
sys.path.insert(0, {scripts!r})
import setup
from lockstep import paths, progress
progress.LOGS = paths.BUILD = paths.Path({here!r})
progress.end_as_interrupted()
try:
    setup.build(1)
except KeyboardInterrupt:
    sys.exit(130)
"""

    def build(self, command, *signals):
        """A build whose only step runs this command, and gets these signals: what it wrote on standard error."""
        ninja = self.folder / "ninja"
        ninja.write_text(self.NINJA.format(step=TOP / "scripts/step", here=self.folder, command=command))
        ninja.chmod(0o755)
        build = subprocess.Popen(
            [sys.executable, "-B", "-c", self.BUILD.format(scripts=str(TOP / "scripts"), here=str(self.folder))],
            env=dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}"), stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        while not (self.folder / "started").exists():
            self.assertIsNone(build.poll())
            time.sleep(0.01)
        for number in signals:
            build.send_signal(number)
            time.sleep(0.05)
        words = build.communicate(timeout=40)[1]
        self.assertEqual(build.returncode, 130)
        self.assertNotIn("Traceback", words)
        with self.assertRaises(ProcessLookupError):
            os.killpg(int((self.folder / "started").read_text()), 0)

    def test_sigterm_ends_the_build_with_ninja_the_step_and_its_command(self):
        self.build("exec sleep 60", signal.SIGTERM)

    def test_sighup_ends_the_build_as_well(self):
        self.build("exec sleep 60", signal.SIGHUP)

    def test_ctrl_c_typed_again_and_again_leaves_no_traceback_and_nothing_running(self):
        self.build("trap 'sleep 0.5; exit 1' TERM; sleep 60 & wait", *[signal.SIGINT] * 4)


class Rights(InTemporaryFolder):
    def test_without_root_and_sudo_it_says_exactly_what_to_install(self):
        for name, body in (("dpkg-query", "exit 0"), ("id", "echo 1000"), ("sudo", "exit 1")):
            tool = self.folder / name
            tool.write_text(f"#!/bin/sh\n{body}\n")
            tool.chmod(0o755)
        done = setup({"PATH": f"{self.folder}:/usr/bin:/bin"})
        self.assertEqual(done.returncode, 1)
        wanted = [line.split("#")[0].strip() for line in (TOP / "scripts/packages.txt").read_text().splitlines()]
        wanted = sorted(w for w in wanted if w)
        self.assertIn("apt-get install -y --no-install-recommends " + " ".join(wanted), done.stderr)


class Disk(InTemporaryFolder):
    def test_a_disk_too_small_is_named_before_anything_is_built(self):
        if os.geteuid() != 0:
            self.skipTest("mounting a small file system needs root")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", self.folder],
                          capture_output=True).returncode:
            self.skipTest("this machine does not let us mount a tmpfs")
        self.addCleanup(subprocess.run, ["umount", self.folder])
        for part in ("scripts", "images"):
            shutil.copytree(TOP / part, self.folder / part)
        done = setup({"LOCKSTEP_CACHE": str(paths.cache())}, self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(self.folder / "build"), done.stderr)
        self.assertIn("GiB are needed", done.stderr)


class Downloads(InTemporaryFolder):
    ITEM = {"kind": "source", "name": "thing", "release": "trixie", "series": "10.0."}

    def cache(self):
        cache = fetch.Cache(self.folder)
        (cache.files / "thing.tar").write_text("content")
        cache.put(self.ITEM, "1:10.0.3", ["thing.tar"])
        return cache

    def test_what_is_in_the_cache_is_not_fetched_again(self):
        self.cache()
        with mock.patch.object(fetch, "Apt", side_effect=AssertionError("asked apt")), \
                mock.patch.dict(os.environ, LOCKSTEP_CACHE=str(self.folder)):
            self.assertEqual(fetch.ensure([self.ITEM]).get(self.ITEM)["version"], "1:10.0.3")

    def test_a_damaged_file_is_named_and_removed(self):
        cache = self.cache()
        (cache.files / "thing.tar").write_text("c0ntent")
        with self.assertRaisesRegex(fetch.FetchError, "thing.tar was damaged"):
            cache.checked(self.ITEM)
        self.assertIsNone(cache.get(self.ITEM))

    def test_an_entry_of_another_series_does_not_count(self):
        self.assertIsNone(self.cache().get(dict(self.ITEM, series="10.1.")))

    def test_a_series_is_compared_without_the_epoch(self):
        self.assertTrue(fetch.fits("1:10.0.13+ds-0", "10.0."))
        self.assertFalse(fetch.fits("1:10.1.0", "10.0."))
        self.assertFalse(fetch.fits("10:0.1", "10.0."))

    def test_a_broken_index_is_taken_as_an_empty_cache(self):
        self.cache()
        (self.folder / "index.json").write_text("{ half")
        self.assertIsNone(fetch.Cache(self.folder).get(self.ITEM))


class Trees(InTemporaryFolder):
    def make(self, key, fill):
        trees._make("t", self.folder / "t", self.folder / "t.key", key, fill)

    def test_an_interrupted_tree_is_made_again(self):
        def half(fresh):
            fresh.mkdir()
            (fresh / "half").touch()
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            self.make("k", half)
        self.assertFalse((self.folder / "t").exists())

        def whole(fresh):
            fresh.mkdir()
            (fresh / "whole").touch()
        self.make("k", whole)
        self.assertEqual([p.name for p in (self.folder / "t").iterdir()], ["whole"])

    def test_a_current_tree_is_left_alone_and_a_changed_key_remakes_it(self):
        self.make("one", lambda fresh: fresh.mkdir())
        self.make("one", lambda fresh: self.fail("made again"))
        calls = []
        self.make("two", lambda fresh: (fresh.mkdir(), calls.append(1)))
        self.assertEqual(calls, [1])

    def test_a_mirrored_tree_takes_changes_and_leaves_build_products(self):
        origin, tree, key = self.folder / "origin", self.folder / "tree", self.folder / "tree.key"
        origin.mkdir()
        (origin / "a.c").write_text("one")
        for product in ("a.o", "vmlinux", ".config"):
            (origin / product).write_text("product")
        (origin / "kernel").mkdir()
        (origin / "kernel" / "vmlinux.lds.S").write_text("a source, whatever its name")
        with mock.patch.object(paths, "SRC", self.folder):
            trees._mirror("LINUX_SRC", "kernel", origin, tree, key)
            self.assertEqual(sorted(p.name for p in tree.rglob("*")), ["a.c", "kernel", "vmlinux.lds.S"])
            stamp = key.stat().st_mtime_ns
            trees._mirror("LINUX_SRC", "kernel", origin, tree, key)
            self.assertEqual(key.stat().st_mtime_ns, stamp)
            (origin / "a.c").write_text("two, longer")
            trees._mirror("LINUX_SRC", "kernel", origin, tree, key)
        self.assertEqual((tree / "a.c").read_text(), "two, longer")
        self.assertGreater(key.stat().st_mtime_ns, stamp)


class Mirror(InTemporaryFolder):
    """A developer's tree and its copy, which has a file that a hook changed and a build product."""

    def setUp(self):
        super().setUp()
        self.origin, self.tree = self.folder / "origin", self.folder / "tree"
        (self.origin / "sub").mkdir(parents=True)
        for name in ("a.c", "hooked.c", "sub/b.c"):
            (self.origin / name).write_text("one")
        self.enterContext(mock.patch.object(paths, "SRC", self.folder))
        self.mirror()
        (self.tree / "hooked.c").write_text("one and a hook")
        (self.tree / "a.o").write_text("product")

    def mirror(self, origin=None):
        trees._mirror("LINUX_SRC", "kernel", origin or self.origin, self.tree, self.folder / "tree.key")

    def text(self, name):
        return (self.tree / name).read_text()

    def test_a_file_that_is_restored_with_an_older_time_is_taken_and_is_newer_than_its_product(self):
        (self.origin / "a.c").write_text("two")
        self.mirror()
        (self.tree / "a.o").touch()
        (self.origin / "a.c").write_text("one")
        os.utime(self.origin / "a.c", (1, 1))
        self.mirror()
        self.assertEqual(self.text("a.c"), "one")
        self.assertGreaterEqual((self.tree / "a.c").stat().st_mtime_ns, (self.tree / "a.o").stat().st_mtime_ns)

    def test_a_file_that_is_deleted_goes_and_what_was_built_stays(self):
        (self.origin / "sub/b.c").unlink()
        self.mirror()
        self.assertFalse((self.tree / "sub/b.c").exists())
        self.assertEqual(self.text("a.o"), "product")

    def test_a_file_takes_the_place_of_a_folder_and_the_other_way_round(self):
        (self.origin / "sub/b.c").unlink()
        (self.origin / "sub").rmdir()
        (self.origin / "sub").write_text("a file now")
        (self.origin / "a.c").unlink()
        (self.origin / "a.c").mkdir()
        (self.origin / "a.c/deep.c").write_text("deep")
        (self.tree / "sub/b.o").write_text("product")
        self.mirror()
        self.assertEqual((self.text("sub"), self.text("a.c/deep.c")), ("a file now", "deep"))

    def test_what_a_hook_changed_stays_until_the_developer_changes_it(self):
        (self.origin / "a.c").write_text("two")
        time_before = (self.tree / "sub/b.c").stat().st_mtime_ns
        self.mirror()
        self.assertEqual(self.text("hooked.c"), "one and a hook")
        self.assertEqual((self.tree / "sub/b.c").stat().st_mtime_ns, time_before)
        (self.origin / "hooked.c").write_text("two")
        self.mirror()
        self.assertEqual(self.text("hooked.c"), "two")

    def test_another_origin_leaves_nothing_of_the_first(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "c.c").write_text("c")
        self.mirror(other)
        self.assertEqual([p.name for p in self.tree.rglob("*")], ["c.c"])

    def test_an_interrupted_change_of_origins_is_made_good(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "c.c").write_text("c")
        for broken in ("shutil.rmtree", "trees._take"):
            name = "lockstep.trees." + broken.removeprefix("trees.")
            with mock.patch(name, side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
                self.mirror(other)
            self.mirror()
            self.assertEqual(sorted(p.name for p in self.tree.rglob("*")), ["a.c", "b.c", "hooked.c", "sub"])

    def test_what_git_ignores_is_not_taken_and_what_it_does_not_know_yet_is(self):
        git = ["git", "-C", self.origin, "-c", "user.name=t", "-c", "user.email=t@example.org"]
        (self.origin / ".gitignore").write_text("*.o\n")
        for words in (["init", "-q"], ["add", "a.c"], ["commit", "-qm", "a"]):
            subprocess.run([*git, *words], check=True)
        (self.origin / "x.o").write_text("ignored")
        (self.origin / "a.c").unlink()
        self.mirror()
        self.assertEqual(sorted(p.name for p in self.tree.rglob("*")), [".gitignore", "a.o", "b.c", "hooked.c", "sub"])


class Again(unittest.TestCase):
    def test_setup_of_a_built_tree_does_nothing_and_says_nothing(self):
        done = subprocess.run([TOP / "scripts" / "setup"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Lists(unittest.TestCase):
    def test_every_package_of_the_list_is_explained_in_the_dependencies_page(self):
        text = (TOP / "docs" / "dependencies.md").read_text()
        for line in (TOP / "scripts" / "packages.txt").read_text().splitlines():
            name = line.split("#")[0].strip()
            if name:
                self.assertIn(f"`{name}`", text)


if __name__ == "__main__":
    import tap
    tap.main()
