# SPDX-License-Identifier: GPL-2.0-or-later
"""The QEMU command line of a machine, live or lockstep, and the choice of an accelerator."""
import json
import os
import signal
import subprocess

from . import paths

KVM_PROBE_SECONDS = 6
NIC = "virtio-net-pci"          # without --nic

COMMAND_LINE = ["console=ttyS0", "quiet", "panic=-1", "oops=panic", "softlockup_panic=1",
                "hung_task_panic=1", "tsc=reliable"]

# Without it each secondary CPU measures its delay loop anew, 0.1 s each under TCG.
# A value for a faster CPU than any only makes delays longer.
TCG_COMMAND_LINE = ["lpj=16000000"]

# The counter runs at 1 GHz in guest time; a kernel that measures it against another clock, or
# one vCPU's against another's, finds rounds instead. lpj is 1 GHz divided by CONFIG_HZ.
LOCKSTEP_COMMAND_LINE = ["clocksource=tsc", "tsc_early_khz=1000000", "lpj=4000000", "lockstep.mark"]

# MWAIT waits for memory, not for time. Without fsrm the kernel copies in a loop of its own instead
# of rep movsb, which counts, and costs the host, an instruction for each byte.
LOCKSTEP_CPU = "max,-monitor,-fsrm"
LOCKSTEP_MACHINE = "q35,hpet=off"
LOCKSTEP_DATE = "2025-01-01T00:00:00"


class MachineError(Exception):
    """A part of the machine is missing or wrong; the text says what to do."""


def need(path, what):
    """A built file, or MachineError that says how to get it."""
    if not path.is_file():
        raise MachineError(f"{what} {path} is missing: run make setup")
    return path


def firmware_options():
    share = paths.FIRMWARE / "usr" / "share"
    return ["-L", share / "qemu", "-L", share / "seabios"]


def _boot_id():
    with open("/proc/sys/kernel/random/boot_id") as stream:
        return stream.read().strip()


def _kvm_runs_a_guest():
    """Boot the kernel without a root under KVM: it panics and resets within a second, or KVM is of no use."""
    argv = [paths.QEMU, *firmware_options(), "-M", "q35", "-accel", "kvm", "-cpu", "host", "-m", "256M",
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-kernel", paths.VMLINUX, "-append", "panic=-1 quiet"]
    proc = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return proc.wait(timeout=KVM_PROBE_SECONDS) == 0
    except subprocess.TimeoutExpired:
        os.killpg(proc.pid, signal.SIGKILL)
        try:
            proc.wait(timeout=2)
        except subprocess.TimeoutExpired:
            pass        # stuck in the kernel: it goes when the kernel lets it
        return False


def kvm_works():
    """Whether KVM really runs guests here; asked once after each boot of the machine."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    answer_file = paths.BUILD / "kvm-probe.json"
    try:
        answer = json.loads(answer_file.read_text())
        if answer["boot_id"] == _boot_id():
            return answer["works"]
    except (OSError, ValueError, KeyError):
        pass
    works = _kvm_runs_a_guest()
    answer_file.write_text(json.dumps({"boot_id": _boot_id(), "works": works}) + "\n")
    return works


def choose_accel(wanted, lockstep=False):
    """'kvm' or 'tcg' for 'auto', 'kvm' or 'tcg'. Raises MachineError where KVM is asked for and does not work."""
    if lockstep:
        return "tcg"
    if wanted == "tcg":
        return "tcg"
    works = kvm_works()
    if wanted == "kvm" and not works:
        raise MachineError("--accel kvm: KVM does not run guests on this machine; use --accel tcg")
    return "kvm" if works else "tcg"


def cpu_options(cpus, accel):
    """Accelerator, CPU model and count.

    Where a machine can only ever have one CPU, TCG leaves the barrier out of locked
    instructions, which Linux takes for full barriers. The device's thread may then miss that
    a queue was filled, and the guest miss that it has to say so: the queue stands still. So
    there is room for a second CPU.
    """
    if accel == "kvm":
        return ["-accel", "kvm", "-cpu", "host", "-smp", cpus]
    return ["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", f"{cpus},maxcpus={max(cpus, 2)}"]


def lockstep_options(options):
    """Accelerator, CPU model and count, clock and randomness, all a function of the options."""
    keys = {"quantum": options.quantum, "seed": options.seed, "rate": options.rate, "pause": options.pause,
            "hash-log": options.hash_log and in_list(options.hash_log.absolute()),
            "hash-rounds": options.hash_rounds}
    accel = "".join(f",lockstep-{key}={value}" for key, value in keys.items() if value is not None)
    # QEMU's own random numbers, for RDRAND and the like, take a number of 64 bits as well.
    return ["-accel", f"tcg,lockstep=on{accel}", "-cpu", LOCKSTEP_CPU, "-smp", options.cpus,
            "-rtc", f"base={LOCKSTEP_DATE},clock=vm", "-seed", options.seed or 0]


def in_list(path):
    """A path as the value of one of an option's several keys: commas separate them."""
    return str(path).replace(",", ",,")


def console_chardev(options, run):
    """A person needs a socket. A file never makes the guest wait for its reader, so without one lockstep has that."""
    if options.lockstep and not run.interactive:
        return f"file,id=console,path={in_list(run.console_log)},append=on"
    return (f"socket,id=console,path={in_list(run.console_socket)},server=on,wait=off,"
            f"logfile={in_list(run.console_log)},logappend=on")


def command(options, accel, run):
    """The whole QEMU command for a machine.

    options: cpus, memory (MiB), nic, kernel, initrd, append, lockstep's (see options.py).
    run: the Run whose folders, sockets and boot time-out are used.
    """
    accel_line = (LOCKSTEP_COMMAND_LINE if options.lockstep else TCG_COMMAND_LINE if accel == "tcg" else [])
    append = " ".join([*COMMAND_LINE, *accel_line, *run.kernel_options, *options.append])
    argv = [paths.QEMU, *firmware_options(), "-name", "lockstep", "-M", LOCKSTEP_MACHINE if options.lockstep else "q35",
            *(lockstep_options(options) if options.lockstep else cpu_options(options.cpus, accel)), "-m", f"{options.memory}M",
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-kernel", options.kernel, "-initrd", options.initrd, "-append", append,
            "-chardev", console_chardev(options, run),
            "-serial", "chardev:console",
            "-device", f"lockstep-control,in={in_list(run.folder_in)},out={in_list(run.folder_out)},"
                       f"boot-timeout={run.boot_timeout}" + (f",pause-at={run.pause_at}" if run.pause_at else "")]
    if not options.lockstep:
        argv += ["-netdev", "user,id=net0", "-device", f"{options.nic or NIC},netdev=net0,romfile="]
    return [str(a) for a in argv + run.qemu_options]
