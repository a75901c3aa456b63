# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts target-sim as a process for the tests of this folder; configurations to start it with."""
import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import initiator

TARGET_SIM = os.environ.get("TARGET_SIM") or str(
    pathlib.Path(__file__).resolve().parents[2] / "build/target-sim/target-sim")
# A folder for captures of all connections: see test_pcap.py.
CAPTURE = ["--pcap", os.environ["LOCKSTEP_PCAP"]] if "LOCKSTEP_PCAP" in os.environ else []
# The same tests with several threads: see meson.build.
THREADS = ["--threads", os.environ["LOCKSTEP_THREADS"]] if "LOCKSTEP_THREADS" in os.environ else []
SECONDS = 20  # for anything that takes milliseconds on an idle machine

CONFIG = {
    "hosts": [],
    "ports": [{"addr": {"adrfam": "ipv4", "traddr": "127.0.0.1", "treq": "not specified",
                        "trsvcid": "0", "trtype": "tcp", "tsas": "none"},
               "ana_groups": [{"ana": {"state": "optimized"}, "grpid": 1}],
               "param": {"inline_data_size": "16384"},
               "portid": 1, "referrals": [], "subsystems": ["nqn.2026-01.org.example:a"]}],
    "subsystems": [{"allowed_hosts": [], "attr": {"allow_any_host": "1", "serial": "A0001"},
                    "namespaces": [{"ana_grpid": 1, "device": {"path": "ram:1M"}, "enable": 1,
                                    "nsid": 1}],
                    "nqn": "nqn.2026-01.org.example:a"}],
}


def run(*arguments):
    """A run that is expected to end by itself."""
    return subprocess.run([TARGET_SIM, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)


def wait_for(condition, what):
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {SECONDS} s: {what}")
        time.sleep(0.01)


def free_ports(count=1):
    """The first of `count` free ports in a row, below those that outgoing connections get."""
    while True:
        first = random.randrange(20000, 32000)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first


class Daemon:
    """A running target-sim; `ready` is what its ready file says. stderr: a file in place of `log`."""

    def __init__(self, folder, *arguments, preexec_fn=None, stderr=None):
        self.ready_path = pathlib.Path(folder, f"ready-{time.monotonic_ns()}.json")
        with open(stderr, "w") if stderr else contextlib.nullcontext(subprocess.PIPE) as log:
            self.process = subprocess.Popen(
                [TARGET_SIM, *map(str, arguments), *CAPTURE, *THREADS, "--ready-file", str(self.ready_path)],
                stdin=subprocess.DEVNULL, stderr=log, text=True, preexec_fn=preexec_fn)
        self.log = None
        wait_for(lambda: self.ready_path.exists() or self.process.poll() is not None, "ready")
        if self.process.poll() is not None:
            raise AssertionError(stderr.read_text() if stderr else self.process.stderr.read())
        self.ready = json.loads(self.ready_path.read_text())

    def ports(self):
        return [int(port["trsvcid"]) for port in self.ready["ports"]]

    def address(self, index=0):
        return self.ready["ports"][index]["listen"], self.ports()[index]

    def connect(self, index=0):
        return socket.create_connection(self.address(index), timeout=SECONDS)

    def controller(self, host=0, csi=False):
        """A host's controller of the first subsystem."""
        return initiator.Controller(self.address(), self.ready["subsystems"][0]["nqn"], host=host, csi=csi)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            _, self.log = self.process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode


class Control:
    """The control socket of a daemon, through `target-sim ctl`."""

    def __init__(self, path):
        self.path = path

    def connect(self):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(SECONDS)
        sock.connect(str(self.path))
        return sock

    def run(self, verb, *arguments):
        """What a verb prints; it must succeed."""
        done = run("ctl", "--socket", self.path, verb, *arguments)
        if done.returncode or done.stderr:
            raise AssertionError(f"ctl {verb} {arguments}: {done.returncode} {done.stderr}")
        return done.stdout

    def refused(self, verb, *arguments, status=2):
        """The message of a verb that must fail."""
        done = run("ctl", "--socket", self.path, verb, *arguments)
        if done.returncode != status:
            raise AssertionError(f"ctl {verb} {arguments}: {done.returncode} {done.stdout}")
        return done.stderr.removeprefix("target-sim: error: ").removesuffix("\n")

    def get(self, path):
        return self.run("get", path).removesuffix("\n")

    def set(self, path, value):
        self.run("set", path, value)

    def list(self, path):
        return self.run("list", path).splitlines()

    def dump(self):
        return json.loads(self.run("dump"))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-daemon-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    @contextlib.contextmanager
    def serving(self, *arguments, **options):
        """A daemon that must still run, and end well, when the block is left."""
        daemon = Daemon(self.folder, *arguments, **options)
        try:
            yield daemon
            self.assertIsNone(daemon.process.poll(), "target-sim ended by itself")
        finally:
            status = daemon.end()
        self.assertEqual(status, 0, daemon.log)

    def write_config(self, config, name="config.json"):
        path = self.folder / name
        path.write_text(config if isinstance(config, str) else json.dumps(config, indent=2))
        return path

    def refused(self, status, message, *arguments):
        result = run(*arguments)
        self.assertEqual(result.stderr, f"target-sim: error: {message}\n")
        self.assertEqual(result.returncode, status)
        self.assertEqual(result.stdout, "")


def changed(edit):
    """The configuration above after edit(config)."""
    config = json.loads(json.dumps(CONFIG))
    edit(config)
    return config
