# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the unittest cases of the calling module and prints TAP.

What the C tests get from glib, the Python tests get from here: one line per
test, diagnostics behind "# ", skips with their reason, status 1 on failure.
"""
import sys
import unittest


class TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.count = 0

    def _line(self, ok, test, extra=""):
        self.count += 1
        name = test.id().replace("__main__.", "", 1).replace("#", "")
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}{extra}", flush=True)

    def _failed(self, test, err):
        self._line(False, test)
        for line in self._exc_info_to_string(err, test).rstrip().splitlines():
            print("# " + line, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line(True, test)

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._failed(subtest, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line(True, test, f" # SKIP {reason}")


def main():
    """Run all test cases of __main__ (or those named as arguments); exit with the result."""
    module = sys.modules["__main__"]
    loader = unittest.defaultTestLoader
    if sys.argv[1:]:
        suite = loader.loadTestsFromNames(sys.argv[1:], module)
    else:
        suite = loader.loadTestsFromModule(module)
    result = TapResult()
    suite.run(result)
    print(f"1..{result.count}", flush=True)
    sys.exit(0 if result.wasSuccessful() else 1)
