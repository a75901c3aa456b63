# SPDX-License-Identifier: GPL-2.0-or-later
"""The testbed command: verbs, their options, and how errors reach a person.

Exit status: 0 success, 1 the run failed, 2 wrong usage, 130 interrupted.
"""
import argparse
import os
import sys

from . import boot, debug, diverge, doctor, experiments
from .machine import MachineError
from .options import UsageError
from .progress import end_as_interrupted
from .run import GuestError
from .target import TargetError


def parser():
    top = argparse.ArgumentParser(
        prog="testbed", description="Lockstep: a full-system NVMe-over-TCP laboratory.",
        epilog="Each verb has its own --help. docs/ has a page for each activity.")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True)
    for module in (boot, experiments, debug, diverge, doctor):
        module.add_parser(verbs)
    return top


def _fill_standard_streams():
    """A closed standard stream is an empty one: nothing else may get its descriptor."""
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(spare)
    sys.stdin = sys.stdin or open(0, closefd=False)
    # Buffered, whatever Python was told: a full disk then shows where _flush_output() names it.
    sys.stdout = open(1, "w", closefd=False)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)


def _drop_output():
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _flush_output():
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as err:
        _drop_output()
        raise OSError(err.errno, err.strerror, "standard output") from None


def main():
    _fill_standard_streams()
    options = parser().parse_args()
    end_as_interrupted()
    try:
        status = options.run(options)
        _flush_output()
        return status
    except BrokenPipeError:
        # Who reads us has seen enough. Python would complain once more at its end.
        _drop_output()
        return 1
    except UsageError as err:
        print(f"testbed: {err}", file=sys.stderr)
        return 2
    except (MachineError, GuestError, TargetError, ValueError, OSError) as err:
        print(f"testbed: {err}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("testbed: interrupted; everything it started has ended", file=sys.stderr)
        return 130
