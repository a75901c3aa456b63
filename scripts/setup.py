#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches, unpacks and builds everything under build/ (called by scripts/setup).

Environment: LOCKSTEP_CACHE (downloads and ccache), QEMU_SRC and LINUX_SRC (own
trees), KERNEL_CONFIG (a fragment applied after images/kernel.config), JOBS.
"""
import argparse
import contextlib
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lockstep import fetch, paths, progress, trees      # noqa: E402


def checked_environment():
    """The values of the variables that setup takes. Raises ValueError on a wrong one."""
    jobs = os.environ.get("JOBS") or str(len(os.sched_getaffinity(0)))
    if not jobs.isdigit() or not 1 <= int(jobs) <= 1024:
        raise ValueError(f"JOBS={jobs}: a number from 1 to 1024 is needed")
    if set(" :") & set(str(paths.TOP)):
        raise ValueError(f"{paths.TOP}: the kernel's build takes no blank and no colon in a path; move this tree")
    extra = os.environ.get("KERNEL_CONFIG", "")
    if extra and not Path(extra).is_file():
        raise ValueError(f"KERNEL_CONFIG={extra}: no such file")
    return int(jobs), str(Path(extra).absolute()) if extra else ""


@contextlib.contextmanager
def alone(folder):
    """Nobody else fetches into, or builds in, the folder; says so when it has to wait for that."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say("setup", f"waits for another setup that uses {folder}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def configure(extra):
    """meson setup, once, and again when an option changed."""
    options = [f"-Dkernel_config_extra={extra}"]
    key = paths.BUILD / "meson.key"
    text = "\n".join(options) + "\n"
    if (paths.BUILD / "build.ninja").exists() and key.exists() and key.read_text() == text:
        return
    again = ["--reconfigure"] if (paths.BUILD / "build.ninja").exists() else []
    meson = paths.TOOLS / "usr" / "bin" / "meson"
    progress.run("configure", ["/usr/bin/python3", meson, "setup", *again, *options, paths.BUILD, paths.TOP],
                 env=dict(paths.tool_env(), CC="ccache gcc"))
    key.write_text(text)


def build(jobs):
    env = dict(paths.tool_env(), JOBS=str(jobs))
    trial = subprocess.run(["ninja", "-C", paths.BUILD, "-n"], env=env, capture_output=True, text=True)
    if "ninja: no work to do." in trial.stdout.splitlines():
        return          # ninja itself would say so even when told to be quiet
    # A session of its own: ninja tells nothing to steps that have the terminal, which the group reaches.
    ninja = subprocess.Popen(["ninja", "-C", paths.BUILD, f"-j{jobs}", "--quiet"], env=env, stdout=sys.stderr,
                             stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        status = ninja.wait()
    except KeyboardInterrupt:
        progress.end_group(ninja, 2 * progress.END_SECONDS)     # its steps need some themselves
        raise
    if status:
        progress.say("setup", "the build did not finish; go on with: make setup")
        raise progress.StepFailed("build")


def write_provenance(cache, items, qemu_src, linux_src):
    """build/provenance.json: what this tree was built from, by version and hash."""
    record = {cache.key(i): cache.get(i) for i in items}
    record["QEMU_SRC"] = str(qemu_src or "")
    record["LINUX_SRC"] = str(linux_src or "")
    text = json.dumps(record, indent=1, sort_keys=True) + "\n"
    path = paths.BUILD / "provenance.json"
    if not path.exists() or path.read_text() != text:
        temp = path.with_suffix(".new")
        temp.write_text(text)
        os.replace(temp, path)


def main():
    ap = argparse.ArgumentParser(prog="scripts/setup", description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--no-build", action="store_true", help="fetch, unpack and configure only")
    args = ap.parse_args()
    progress.end_as_interrupted()
    try:
        jobs, extra = checked_environment()
        qemu_src = trees.own_tree("QEMU_SRC", trees.qemu_version)
        linux_src = trees.own_tree("LINUX_SRC", trees.linux_version)
        with alone(paths.BUILD):
            items = fetch.wanted()
            with alone(paths.cache()):
                cache = fetch.ensure(items)
            trees.ensure(cache, items, qemu_src, linux_src)
            configure(extra)
            write_provenance(cache, items, qemu_src, linux_src)
            if not args.no_build:
                build(jobs)
    except progress.StepFailed:
        return 1
    except (ValueError, OSError, fetch.FetchError, trees.TreeError) as err:
        print(f"setup: {err}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: interrupted; go on with: make setup", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
