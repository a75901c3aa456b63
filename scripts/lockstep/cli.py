# SPDX-License-Identifier: GPL-2.0-or-later
"""The testbed command: verbs, their options, and how errors reach a person.

Exit status: 0 success, 1 the run failed, 2 wrong usage, 130 interrupted.
"""
import argparse
import signal
import sys

from . import boot, debug, doctor, experiments
from .machine import MachineError
from .run import GuestError
from .target import TargetError


def parser():
    top = argparse.ArgumentParser(
        prog="testbed", description="Lockstep: a full-system NVMe-over-TCP laboratory.",
        epilog="Each verb has its own --help. docs/ has a page for each activity.")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True)
    for module in (boot, experiments, debug, doctor):
        module.add_parser(verbs)
    return top


def _terminated(signum, frame):
    raise KeyboardInterrupt


def main():
    options = parser().parse_args()
    signal.signal(signal.SIGTERM, _terminated)
    signal.signal(signal.SIGHUP, _terminated)
    try:
        return options.run(options)
    except (MachineError, GuestError, TargetError, ValueError, OSError) as err:
        print(f"testbed: {err}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("testbed: interrupted; everything it started has ended", file=sys.stderr)
        return 130
