# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts target-sim as a process of the host and tells where it listens."""
import json
import subprocess
import time

from . import paths

START_SECONDS = 10


class TargetError(Exception):
    """target-sim did not start or ended; the text has its own last words."""


class Target:
    def __init__(self, folder, arguments, name="target"):
        """folder: where log and ready file go. arguments: of target-sim, but for those we set."""
        self.log_path = folder / f"{name}.log"
        self.ready_path = folder / f"{name}.json"
        self.argv = [str(paths.TARGET_SIM), *map(str, arguments),
                     "--ready-file", str(self.ready_path), "--die-with-parent"]
        self.process = None
        self.ready = None

    def start(self):
        """Start it and wait until it listens; `ready` then holds what it serves. Raises TargetError."""
        self.ready_path.unlink(missing_ok=True)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, start_new_session=True)
        deadline = time.monotonic() + START_SECONDS
        while not self.ready_path.exists():
            if self.process.poll() is not None:
                raise TargetError(f"target-sim did not start: {self.last_words()}")
            if time.monotonic() > deadline:
                self.stop()
                raise TargetError(f"target-sim was not ready after {START_SECONDS} s: {self.last_words()}")
            time.sleep(0.01)
        self.ready = json.loads(self.ready_path.read_text())

    def last_words(self):
        text = self.log_path.read_text(errors="replace").strip() if self.log_path.exists() else ""
        return "\n".join(text.splitlines()[-5:]) or "(it said nothing)"

    def died(self):
        """None while it runs, else a sentence on how it ended."""
        status = self.process.poll()
        if status is None:
            return None
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"target-sim {how}: {self.last_words()}"

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
