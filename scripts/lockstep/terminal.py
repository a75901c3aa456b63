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

    def drain(self):
        """Throw away what has arrived (the log has it); notes when the guest has gone."""
        try:
            if not self.sock.recv(65536):
                self.open = False
        except BlockingIOError:
            pass
        except OSError:
            self.open = False

    def close(self):
        self.sock.close()


def size():
    columns, rows = shutil.get_terminal_size((80, 24))
    return rows, columns


def attach(console, keep_going):
    """Join this terminal and the console until the guest goes, Ctrl-] is typed or keep_going() is false.

    The terminal's settings are restored whatever happens.
    """
    keys, screen = sys.stdin.fileno(), sys.stdout.fileno()
    saved = termios.tcgetattr(keys)
    try:
        tty.setraw(keys)
        while console.open and keep_going():
            ready, _, _ = select.select([keys, console.sock], [], [], 0.2)
            if console.sock in ready:
                try:
                    data = console.sock.recv(65536)
                except BlockingIOError:
                    continue
                except OSError:
                    data = b""
                if not data:
                    console.open = False
                    break
                os.write(screen, data)
            if keys in ready:
                typed = os.read(keys, 1024)
                if not typed or DETACH in typed:
                    break
                console.sock.setblocking(True)
                console.sock.sendall(typed)
                console.sock.setblocking(False)
    finally:
        termios.tcsetattr(keys, termios.TCSADRAIN, saved)
