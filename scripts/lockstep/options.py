# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line's option types and the groups that several verbs share."""
import argparse
import re
from pathlib import Path

from . import paths

NICS = ("virtio-net-pci", "e1000e")
SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class UsageError(ValueError):
    """Options or variables that are wrong, or wrong together: testbed ends with status 2."""


def number(low, high):
    def parse(text):
        if not re.fullmatch(r"\d+", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"'{text}': a number from {low} to {high} is needed")
        return int(text)
    return parse


def size(text):
    found = re.fullmatch(r"(\d+)([KMG]?)(?:i?B)?", text, re.I)
    if not found or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"'{text}': a size like 64M or 1G is needed")
    return int(found[1]) * SIZES[found[2].upper()]


def existing_file(text):
    path = Path(text).expanduser().absolute()
    if not path.exists():
        raise argparse.ArgumentTypeError(f"'{text}': no such file")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"'{text}': a folder; a file is needed")
    return path


def add_machine(parser, cpus=4):
    group = parser.add_argument_group("machine")
    group.add_argument("--cpus", type=number(1, 128), default=cpus, metavar="N",
                       help=f"virtual CPUs, 1 to 128 (default {cpus})")
    group.add_argument("--memory", type=number(256, 65536), default=1024, metavar="MIB",
                       help="guest memory in MiB, 256 to 65536 (default 1024)")
    group.add_argument("--accel", choices=("auto", "kvm", "tcg"), default="auto",
                       help="auto takes KVM where a probe shows that it works, else TCG (default auto)")
    group.add_argument("--nic", choices=NICS, help=f"the guest's NIC (default {NICS[0]}; none in lockstep mode)")
    group.add_argument("--kernel", type=existing_file, default=paths.VMLINUX, metavar="FILE",
                       help="kernel to boot, vmlinux or bzImage (default the built one)")
    group.add_argument("--initrd", type=existing_file, default=paths.INITRAMFS, metavar="FILE",
                       help="initramfs to boot (default the built one)")
    group.add_argument("--append", action="append", default=[], metavar="OPTION",
                       help="a further option for the kernel's command line; may be repeated")
    add_lockstep(parser)


def rate(text):
    found = re.fullmatch(r"(\d+)(?:/(\d+))?", text)
    if not found or not all(1 <= int(part or 1) <= 16 for part in found.groups()):
        raise argparse.ArgumentTypeError(f"'{text}': N or N/M is needed, each 1 to 16")
    return text


LOCKSTEP_ONLY = ("quantum", "seed", "rate", "pause", "hash_log", "hash_rounds")


def add_lockstep(parser):
    group = parser.add_argument_group(
        "lockstep", "Guest time is counted in instructions, the same in every run. The kernel's own target "
                    "in the guest serves the namespaces, over loopback: nothing of the host takes part.")
    group.add_argument("--lockstep", action="store_true", help="run in lockstep mode")
    group.add_argument("--quantum", type=number(100, 65535), metavar="NS",
                       help="guest time of a round, 100 to 65535 ns (default 1000)")
    group.add_argument("--seed", type=number(0, (1 << 63) - 1), metavar="S",
                       help="0: the plain order; any other: another interleaving, and it again each time (default 0)")
    group.add_argument("--rate", type=rate, metavar="N/M", help="guest instructions per ns (default 1)")
    group.add_argument("--pause", type=number(1, 10000), metavar="NS",
                       help="guest time of a PAUSE instruction, 1 to 10000 ns (default 40)")
    group.add_argument("--hash-log", type=Path, metavar="FILE",
                       help="write a chained hash of the vCPUs' state there, for testbed diverge")
    group.add_argument("--hash-rounds", type=number(1, (1 << 32) - 1), metavar="N",
                       help="rounds between two records of the hash log (default 1000)")


def check_lockstep(options):
    """Options that need lockstep mode, and those that cannot be in it: UsageError names them."""
    if not options.lockstep:
        for name in LOCKSTEP_ONLY:
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} needs --lockstep beside it")
        return
    if options.accel == "kvm":
        raise UsageError("--accel kvm: in lockstep mode instructions are counted, which needs tcg")
    if options.nic:
        raise UsageError(f"--nic {options.nic}: in lockstep mode the guest has no NIC, as the host would answer")
    if getattr(options, "config", None):
        raise UsageError("--config: in lockstep mode the guest's kernel is the target; "
                         "use --subsystems, --paths and --namespaces")
    if getattr(options, "block_size", 512) != 512:
        raise UsageError(f"--block-size {options.block_size}: in lockstep mode it is 512")


def add_target(parser):
    group = parser.add_argument_group("target")
    group.add_argument("--config", type=existing_file, metavar="FILE",
                       help="nvmetcli JSON for target-sim, in place of the generated one")
    group.add_argument("--subsystems", type=number(1, 64), default=4, metavar="N",
                       help="subsystems, 1 to 64 (default 4)")
    group.add_argument("--paths", type=number(1, 16), default=2, metavar="N",
                       help="paths to each subsystem, 1 to 16 (default 2)")
    group.add_argument("--namespaces", type=number(1, 64), default=1, metavar="N",
                       help="namespaces of each subsystem, 1 to 64 (default 1)")
    group.add_argument("--size", type=size, default=size("256M"), metavar="SIZE",
                       help="size of each namespace, for example 256M (default 256M)")
    group.add_argument("--block-size", type=int, choices=(512, 4096), default=512,
                       help="logical block size (default 512)")


def add_connect(parser, digests=False, poll_queues=0):
    group = parser.add_argument_group("connection")
    group.add_argument("--queues", type=number(1, 128), metavar="N",
                       help="I/O queues of each controller (default: one for each CPU)")
    group.add_argument("--poll-queues", type=number(0, 128), default=poll_queues, metavar="N",
                       help=f"polled queues of each controller besides them (default {poll_queues})")
    group.add_argument("--digests", action=argparse.BooleanOptionalAction, default=digests,
                       help="header and data digests (default %s)" %
                            ("on in the demo, else off" if digests is None else "on" if digests else "off"))


def target_arguments(options):
    """target-sim's arguments for the options of add_target()."""
    common = ["--listen", "127.0.0.1", "--advertise", "10.0.2.2"]
    if options.config:
        return ["--config", options.config, *common]
    return ["--subsystems", options.subsystems, "--paths", options.paths, "--namespaces", options.namespaces,
            "--size", options.size, "--block-size", options.block_size, *common]


def connect_options(options):
    """nvme connect's options for those of add_connect()."""
    words = []
    if options.queues:
        words.append(f"--nr-io-queues={options.queues}")
    if options.poll_queues:
        words.append(f"--nr-poll-queues={options.poll_queues}")
    if options.digests:
        words += ["--hdr-digest", "--data-digest"]
    return " ".join(words)
