# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a boot takes until 8 controllers are connected, by CPUs and NIC, side by side in one run.

Each row is the median of its rounds, with the spread, and the ratio to the first
row. Nothing fails by being slow; a boot that fails, does.
"""
import re
import statistics
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
sys.dont_write_bytecode = True

from lockstep import table      # noqa: E402

ROUNDS = 5
CASES = [("1 CPU", ["--cpus", "1"]), ("2 CPUs", ["--cpus", "2"]), ("4 CPUs", ["--cpus", "4"]),
         ("4 CPUs, e1000e", ["--cpus", "4", "--nic", "e1000e"])]


def connected_after(words):
    done = subprocess.run([TOP / "testbed", "boot", "--batch", *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    found = re.search(r"connected after ([0-9.]+) s", done.stderr)
    if done.returncode or not found:
        raise RuntimeError(done.stderr)
    return float(found[1])


def main():
    seconds = {name: [] for name, _ in CASES}
    for _ in range(ROUNDS):                 # in turn, so that a busy minute hits all alike
        for name, words in CASES:
            seconds[name].append(connected_after(words))
    first = statistics.median(seconds[CASES[0][0]])
    rows = [[name, f"{statistics.median(s):.2f}", f"{min(s):.2f} - {max(s):.2f}", f"{statistics.median(s) / first:.2f}"]
            for name, s in seconds.items()]
    text = table.render(["boot to 8 controllers", "median s", "spread s", "ratio"], rows)
    print("\n".join("# " + line for line in text.splitlines()))
    print("ok 1 - boot\n1..1")


main()
