# SPDX-License-Identifier: GPL-2.0-or-later
"""`testbed doctor`: what is here, what works, what is missing and how to get it."""
import json
import os
import shutil
import subprocess

from . import machine, paths, table

GIB = 1 << 30


def add_parser(verbs):
    parser = verbs.add_parser("doctor", help="check this machine and the build",
                              description="Checks the machine and the build; status 1 if something is missing.")
    parser.add_argument("--json", action="store_true", help="as JSON on standard output")
    parser.set_defaults(run=main)


def _packages():
    wanted = [w for line in (paths.TOP / "scripts" / "packages.txt").read_text().splitlines()
              if (w := line.split("#")[0].strip())]
    shown = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status} ${Package}\n", *wanted],
                           capture_output=True, text=True).stdout
    present = {line.split()[1] for line in shown.splitlines() if line.startswith("installed ")}
    missing = sorted(set(wanted) - present)
    return not missing, "all installed" if not missing else "missing: " + " ".join(missing) + " (make setup)"


def _built(path):
    def check():
        if not path.is_file():
            return False, "missing (make setup)"
        return True, table.human_size(path.stat().st_size)
    return check


def _space():
    free = shutil.disk_usage(paths.TOP).free
    return free > 3 * GIB, f"{free // GIB} GiB free"


def _cpus():
    return True, f"{len(os.sched_getaffinity(0))} usable"


def _kvm():
    if not os.path.exists("/dev/kvm"):
        return True, "no /dev/kvm; TCG is used"
    if not paths.QEMU.is_file() or not paths.VMLINUX.is_file():
        return True, "not probed (needs the built QEMU and kernel)"
    return True, "works" if machine.kvm_works() else "/dev/kvm is there but runs no guest; TCG is used"


def _ccache():
    env = paths.tool_env()
    shown = subprocess.run(["ccache", "--print-stats"], env=env, capture_output=True, text=True)
    stats = dict(line.split("\t") for line in shown.stdout.splitlines() if "\t" in line)
    return True, f"{table.human_size(int(stats.get('cache_size_kibibyte', 0)) * 1024)} in {env['CCACHE_DIR']}"


CHECKS = [
    ("packages", _packages), ("disk", _space), ("cpus", _cpus), ("kvm", _kvm), ("ccache", _ccache),
    ("QEMU", _built(paths.QEMU)), ("kernel", _built(paths.VMLINUX)), ("image", _built(paths.INITRAMFS)),
    ("target-sim", _built(paths.TARGET_SIM)),
]


def main(options):
    rows = []
    for name, check in CHECKS:
        try:
            good, text = check()
        except (OSError, ValueError, subprocess.SubprocessError) as err:
            good, text = False, str(err)
        rows.append([name, "ok" if good else "PROBLEM", text])
    if options.json:
        print(json.dumps([{"check": n, "ok": s == "ok", "detail": t} for n, s, t in rows], indent=1))
    else:
        print(table.render(["check", "state", "detail"], rows))
    return 0 if all(row[1] == "ok" for row in rows) else 1
