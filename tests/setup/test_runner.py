# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/run: what it makes of TAP, of a crash, a time-out, a plan that is not kept."""
import importlib.machinery
import importlib.util
import sys
import tempfile
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


if __name__ == "__main__":
    import tap
    tap.main()
