# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's serial console: a reader for scripts, and a person's terminal on it."""
import os
import select
import shutil
import socket
import sys
import termios
import time
import tty

DETACH = b"\x1d"        # Ctrl-]


class Console:
    """A connection to QEMU's console socket. What arrives is kept in QEMU's log file, not here."""

    def __init__(self, path, give_up):
        """path: of the socket; waits for it until give_up() says why not (None: go on)."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        while True:
            try:
                self.sock.connect(str(path))
                break
            except OSError:
                if give_up() is not None:
                    raise
                time.sleep(0.005)
        self.sock.setblocking(False)
        self.open = True

    def receive(self):
        """What has arrived, perhaps nothing; notes when the guest has gone."""
        try:
            data = self.sock.recv(65536)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        self.open = bool(data)
        return data

    def send(self, data):
        """The number of bytes that the guest's port has taken; notes when the guest has gone."""
        try:
            return self.sock.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            self.open = False
            return 0

    def close(self):
        self.sock.close()


class FileConsole:
    """The console is a file and nobody types: for guests that must not notice a reader."""

    open = True

    def receive(self):
        return b""

    def close(self):
        pass


def size():
    columns, rows = shutil.get_terminal_size((80, 24))
    return rows, columns


def attach(console, keep_going):
    """Join this terminal and the console until the guest goes, Ctrl-] is typed or keep_going() is false.

    The terminal's settings are restored whatever happens.
    """
    keys, screen = sys.stdin.fileno(), sys.stdout.fileno()
    typed = b""         # and not taken by the guest yet, which may have stopped reading
    saved = termios.tcgetattr(keys)
    try:
        tty.setraw(keys)
        while console.open and keep_going():
            ready, takes, _ = select.select([keys, console.sock], [console.sock] if typed else [], [], 0.2)
            if console.sock in ready:
                data = console.receive()
                if not console.open:
                    break
                os.write(screen, data)
            if keys in ready:
                fresh = os.read(keys, 1024)
                if not fresh or DETACH in fresh:
                    break
                typed += fresh
            if takes:
                typed = typed[console.send(typed):]
    finally:
        termios.tcsetattr(keys, termios.TCSADRAIN, saved)
