# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast target-sim is beside a server that moves the same bytes and does nothing else.

4 KiB reads from the null backend over loopback; the servers on one core, the client on another. In
each case both servers are asked in turn, in short rounds: a busy moment hits both. Shown are medians
and, for ratios, the spread of the rounds. "CPU" is what the server's process used, so it says little
about the client. Nothing fails by being slow; what does not work, does.
"""
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOCKSTEP_BUILD") or TOP / "build")
sys.path.insert(0, str(TOP / "scripts"))
sys.dont_write_bytecode = True

from lockstep import table      # noqa: E402

NQN = "nqn.2026-01.org.lockstep:subsystem1"
DEPTHS = [1, 32, 128]
QUEUES = [1, 16, 256]
AIMS = {1: 0.85, 32: 0.7}
ROUNDS = 7
MILLISECONDS = 300
IDLE_QUEUES = 1024
IDLE_KIB = 32


def pin(cpu):
    """For preexec_fn: one core, if there are several."""
    cpus = sorted(os.sched_getaffinity(0))
    return lambda: os.sched_setaffinity(0, {cpus[cpu % len(cpus)]})


class Server:
    def __init__(self, stack, name, command, port):
        self.name = name
        self.process = stack.enter_context(subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, preexec_fn=pin(0)))
        stack.callback(self.process.kill)
        self.port = port(self.process)

    def cpu_ns(self):
        # Time on a CPU, in ns: the first number.
        return int(pathlib.Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0])

    def rss_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])


def start_target(stack):
    ready = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()), "ready.json")

    def port(process):
        while not ready.exists():
            if process.poll() is not None:
                raise RuntimeError("target-sim did not start")
            time.sleep(0.01)
        return int(json.loads(ready.read_text())["ports"][0]["trsvcid"])

    return Server(stack, "target-sim", [
        BUILD / "target-sim/target-sim", "--subsystems", "1", "--backend", "null", "--max-queues", "1024",
        "--max-queue-size", "256", "--log", "warn", "--ready-file", ready], port)


def start_bare(stack):
    return Server(stack, "bare", [BUILD / "tests/bench/bare_server"],
                  lambda process: int(process.stdout.readline()))


class Client:
    """Connected queues; run() keeps them full for a while."""

    def __init__(self, stack, server, queues, depth, entries=None):
        self.server = server
        self.process = stack.enter_context(subprocess.Popen(
            [BUILD / "tests/bench/bare_client", str(server.port), NQN, str(queues), str(depth),
             str(entries or depth + 1)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=pin(1)))
        stack.callback(self.process.kill)
        if self.process.stdout.readline() != "connected\n":
            raise RuntimeError(f"no connection to {server.name}")

    def run(self, milliseconds=MILLISECONDS):
        """(reads per second, CPU ns of the server for each)"""
        before = self.server.cpu_ns()
        self.process.stdin.write(f"{milliseconds}\n")
        self.process.stdin.flush()
        reads, ns = map(int, self.process.stdout.readline().split())
        return reads * 1e9 / ns, (self.server.cpu_ns() - before) / reads


def compare(target, bare, queues, depth):
    """Rounds of (target's reads per second, CPU ns; bare's the same)."""
    with contextlib.ExitStack() as stack:
        clients = [Client(stack, server, queues, depth) for server in (target, bare)]
        for client in clients:
            client.run(100)
        rounds = []
        for number in range(ROUNDS):
            order = clients if number % 2 else clients[::-1]
            got = {client.server.name: client.run() for client in order}
            rounds.append(got["target-sim"] + got["bare"])
        return rounds


def spread(values, form):
    return f"{form % statistics.median(values)} ({form % min(values)} - {form % max(values)})"


def show(header, rows):
    print("\n".join("# " + line for line in table.render(header, rows).splitlines()), flush=True)


def throughput(target, bare):
    rows = []
    for depth in DEPTHS:
        for queues in QUEUES:
            rounds = compare(target, bare, queues, depth)
            mid = [statistics.median(column) for column in zip(*rounds)]
            rows.append([str(depth), str(queues), f"{mid[0]:.0f}", f"{mid[2]:.0f}",
                         spread([t / b for t, _, b, _ in rounds], "%.2f"),
                         f"{AIMS[depth]}" if depth in AIMS else "",
                         f"{mid[1]:.0f}", f"{mid[3]:.0f}", f"{mid[3] / mid[1]:.2f}"])
    show(["depth", "queues", "target-sim IOPS", "bare IOPS", "ratio", "aim", "target-sim CPU ns", "bare CPU ns",
          "ratio"], rows)


def connections(target, bare):
    """Cost of a read with 1 and with 1,024 connections of the same depth, in turn."""
    rows = []
    for depth in 1, 32:
        for server in target, bare:
            with contextlib.ExitStack() as stack:
                one, many = (Client(stack, server, queues, depth) for queues in (1, 1024))
                one.run(100), many.run(100)
                rounds = [(one.run()[1], many.run()[1]) for _ in range(ROUNDS)]
            rows.append([str(depth), server.name, f"{statistics.median(o for o, _ in rounds):.0f}",
                         f"{statistics.median(m for _, m in rounds):.0f}",
                         spread([100 * (m / o - 1) for o, m in rounds], "%+.0f %%")])
    show(["depth", "server", "CPU ns, 1 connection", "1,024", "growth (aim: target-sim below 25 %)"], rows)


def idle_memory():
    with contextlib.ExitStack() as stack:
        target = start_target(stack)
        with contextlib.ExitStack() as warm:
            Client(warm, target, 1, 0, entries=128)
        before = target.rss_kib()
        Client(stack, target, IDLE_QUEUES, 0, entries=128)
        return (target.rss_kib() - before) / IDLE_QUEUES


def main():
    with contextlib.ExitStack() as stack:
        target, bare = start_target(stack), start_bare(stack)
        throughput(target, bare)
        print("ok 1 - throughput beside a bare server")
        connections(target, bare)
        print("ok 2 - cost of a read over connections")
    kib = idle_memory()
    print(f"# {IDLE_QUEUES} idle queues of depth 128: {kib:.1f} KiB each (aim: at most {IDLE_KIB})")
    print(f"{'ok' if kib <= IDLE_KIB else 'not ok'} 3 - memory of an idle queue\n1..3")


main()
