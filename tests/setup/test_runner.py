# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/run: what it makes of TAP, of a crash, a time-out, a plan that is not kept."""
import importlib.machinery
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

RUNNER = Path(__file__).resolve().parents[1] / "run"


def load():
    loader = importlib.machinery.SourceFileLoader("runner", str(RUNNER))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("runner", loader))
    loader.exec_module(module)
    return module


class Count(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.dont_write_bytecode = True
        cls.runner = load()

    def count(self, text, status=0):
        with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
            log.write(text)
            log.flush()
            return self.runner.count(Path(log.name), status, 9)

    def test_passed_skipped_and_failed_lines_are_told_apart(self):
        text = "1..4\nok 1 - a\nok 2 /b/c # SKIP no root\nnot ok 3 - d\nok 4 - e\n"
        self.assertEqual(self.count(text, 1), (2, [("/b/c", "no root")], ["d"]))

    def test_a_plan_at_the_end_counts_as_one_at_the_start(self):
        self.assertEqual(self.count("ok 1 - a\n1..1\n"), (1, [], []))

    def test_fewer_results_than_planned_is_a_failure(self):
        self.assertEqual(len(self.count("1..3\nok 1 - a\n")[2]), 1)

    def test_no_plan_is_a_failure(self):
        self.assertEqual(len(self.count("ok 1 - a\n")[2]), 1)

    def test_a_crash_after_good_results_is_a_failure(self):
        self.assertEqual(len(self.count("1..1\nok 1 - a\n", -11)[2]), 1)

    def test_a_time_out_is_a_failure(self):
        self.assertIn("9 s", self.count("1..2\nok 1 - a\n", None)[2][0])

    def test_bail_out_is_a_failure(self):
        self.assertEqual(len(self.count("Bail out! no memory\n1..0\n", 1)[2]), 1)

    def test_a_suite_skipped_whole_is_no_failure(self):
        self.assertEqual(self.count("1..0 # SKIP nothing to do\n"), (0, [], []))

    def test_an_unknown_name_is_refused(self):
        with mock.patch.object(sys, "argv", ["run", "nonsense"]), \
                mock.patch.object(self.runner, "known_tests", return_value=[]), \
                self.assertRaises(SystemExit) as caught, mock.patch("sys.stderr"):
            self.runner.main()
        self.assertEqual(caught.exception.code, 2)


class Process(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="lockstep-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "tests").mkdir()
        self.runner = shutil.copy(RUNNER, self.folder / "tests" / "run")

    def test_a_tree_that_is_not_built_says_what_to_run(self):
        done = subprocess.run([self.runner], capture_output=True, text=True, timeout=20)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertIn("run make setup", done.stderr)

    def test_sigterm_ends_the_test_that_runs(self):
        info = self.folder / "build" / "meson-info"
        info.mkdir(parents=True)
        started = self.folder / "started"
        (info / "intro-tests.json").write_text(json.dumps([{
            "name": "t", "suite": ["unit"], "env": {}, "timeout": 60, "workdir": str(self.folder),
            "cmd": ["/bin/sh", "-c", "echo $$ >new; mv new started; exec sleep 60"]}]))
        with subprocess.Popen([self.runner], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as runner:
            while not started.exists():
                self.assertIsNone(runner.poll())
                time.sleep(0.01)
            runner.terminate()
            runner.communicate(timeout=20)
        self.assertEqual(runner.returncode, 130)
        with self.assertRaises(ProcessLookupError):
            os.killpg(int(started.read_text()), 0)


if __name__ == "__main__":
    import tap
    tap.main()
