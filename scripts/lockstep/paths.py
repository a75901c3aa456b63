# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things are: the one place that knows the tree's and the cache's layout."""
import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
SRC = BUILD / "src"
LOGS = BUILD / "log"
TOOLS = BUILD / "tools"
USERLAND = BUILD / "userland"
FIRMWARE = BUILD / "firmware"
RESULTS = TOP / "results"

QEMU = BUILD / "qemu" / "qemu-system-x86_64"
KERNEL = BUILD / "kernel"
VMLINUX = KERNEL / "vmlinux"
BZIMAGE = KERNEL / "bzImage"
MODULES = BUILD / "guest-driver"
INITRAMFS = BUILD / "images" / "initramfs.cpio"
TARGET_SIM = BUILD / "target-sim" / "target-sim"


def cache():
    """The download and ccache folder: LOCKSTEP_CACHE, else under the user's cache home."""
    if os.environ.get("LOCKSTEP_CACHE"):
        return Path(os.environ["LOCKSTEP_CACHE"]).absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lockstep"


def tool_env():
    """The environment of every build step: our meson first, ccache hits in any clone."""
    env = dict(os.environ)
    env["PATH"] = f"{TOOLS}/usr/bin:" + env.get("PATH", "/usr/bin:/bin")
    env["PYTHONPATH"] = f"{TOOLS}/usr/lib/python3/dist-packages"
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env.setdefault("CCACHE_DIR", str(cache() / "ccache"))
    env["CCACHE_BASEDIR"] = str(TOP)
    env["CCACHE_NOHASHDIR"] = "1"
    env["CCACHE_DEPEND"] = "1"      # no extra run of the preprocessor for each miss
    env["LC_ALL"] = "C.UTF-8"
    env.pop("MAKEFLAGS", None)
    env.pop("MAKELEVEL", None)
    env.pop("MFLAGS", None)
    return env
