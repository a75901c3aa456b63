# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's monitor protocol (QMP) on a socket."""
import json
import socket
import time

from . import machine

CONNECT_SECONDS = 20


class MonitorError(machine.MachineError):
    """QEMU refused a command or did not answer; the text says which."""


class Monitor:
    """One connection; give QEMU `options`, then connect(). Waits up to CONNECT_SECONDS for QEMU to listen."""

    def __init__(self, folder):
        self.path = folder / "qmp"
        self.options = ["-qmp", f"unix:{machine.in_list(self.path)},server=on,wait=off"]
        self.sock = self.stream = None

    def connect(self):
        deadline = time.monotonic() + CONNECT_SECONDS
        while True:
            self.sock = socket.socket(socket.AF_UNIX)
            try:
                self.sock.connect(str(self.path))
                break
            except OSError as err:
                self.sock.close()
                if time.monotonic() > deadline:
                    raise MonitorError(f"QEMU's monitor {self.path}: {err.strerror}") from None
                time.sleep(0.005)
        self.stream = self.sock.makefile("rw")
        self.stream.readline()
        self.command("qmp_capabilities")

    def command(self, name, **arguments):
        """The command's result. Raises MonitorError with QEMU's words."""
        try:
            self.stream.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
            self.stream.flush()
            while line := self.stream.readline():
                answer = json.loads(line)
                if "return" in answer:
                    return answer["return"]
                if "error" in answer:
                    raise MonitorError(f"QEMU's monitor: {name}: {answer['error']['desc']}")
        except OSError:
            pass
        raise MonitorError(f"QEMU's monitor ended at {name}")

    def wait_for(self, name, key, wanted, seconds=60):
        """Ask until the answer has the wanted value; a status of failure ends it at once."""
        deadline = time.monotonic() + seconds
        while (value := (answer := self.command(name)).get(key)) != wanted:
            if value == "failed" or time.monotonic() > deadline:
                raise MonitorError(f"QEMU's monitor: {name}: {answer.get('error-desc', value)}, not {wanted}")
            time.sleep(0.01)

    def close(self):
        if self.stream:
            self.stream.close()
        self.sock.close()
