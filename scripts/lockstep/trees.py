# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacks what was fetched under build/, or mirrors a developer's own trees there.

Each tree has a key file that says what it was made from. A tree is made beside
its place and renamed, so that an interruption leaves none half made; it is made
anew only when its key changes.
"""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import paths, progress

NEEDED = {"build": 8, "tree": 3}        # GiB that a full build, one tree ask for

# Left behind by a build inside a developer's tree; never mirrored.
# (What else a build left there is made again, as its .cmd file is missing.)
PRODUCTS = ["*.o", "*.ko", "*.a", "*.cmd", "*.mod", "*.mod.c", "*.order", "*.symvers", "/vmlinux",
            "/vmlinux-gdb.py", "/.config", "/.config.old", "/include/generated", "/include/config",
            "/arch/*/include/generated", "/build", ".git", "__pycache__"]


class TreeError(Exception):
    """A tree cannot be made; the text says which and why."""


def _write_key(path, key):
    temp = path.with_suffix(".new")
    temp.write_text(key)
    os.replace(temp, path)


def _current(tree, keyfile, key):
    return tree.is_dir() and keyfile.is_file() and keyfile.read_text() == key


def need_space(what):
    paths.BUILD.mkdir(exist_ok=True)
    free = shutil.disk_usage(paths.BUILD).free >> 30
    if free < NEEDED[what]:
        raise TreeError(f"{paths.BUILD} has {free} GiB free; {NEEDED[what]} GiB are needed")


def _make(name, tree, keyfile, key, fill):
    """Make `tree` by fill(folder) unless it is current."""
    if _current(tree, keyfile, key):
        return
    need_space("tree")
    fresh = tree.with_name(tree.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    keyfile.unlink(missing_ok=True)
    fresh.parent.mkdir(parents=True, exist_ok=True)
    fill(fresh)
    shutil.rmtree(tree, ignore_errors=True)
    os.rename(fresh, tree)
    _write_key(keyfile, key)


def _dpkg_x(name, debs, fresh):
    fresh.mkdir()
    script = 'dir=$1; shift; for deb; do dpkg -x "$deb" "$dir"; done'
    progress.run(f"unpack-{name}", ["sh", "-ec", script, "sh", fresh, *debs], title=f"{len(debs)} packages")


def _key(cache, items):
    return json.dumps({cache.key(i): cache.get(i) for i in items}, sort_keys=True, indent=1) + "\n"


def _source(cache, item):
    def fill(fresh):
        dsc = next(p for p in cache.checked(item) if p.suffix == ".dsc")
        progress.run(f"unpack-{item['name']}", ["dpkg-source", "--no-check", "--no-copy", "-x", dsc, fresh],
                     title=cache.get(item)["version"])
    name = item["name"]
    _make(name, paths.SRC / name, paths.SRC / f"{name}.key", _key(cache, [item]), fill)


def _kernel(cache, item):
    def fill(fresh):
        holder = fresh.with_name("kernel.deb")
        shutil.rmtree(holder, ignore_errors=True)
        _dpkg_x("kernel-package", cache.checked(item), holder)
        fresh.mkdir()
        tarball = next(holder.glob("usr/src/*.tar.xz"))
        progress.run("unpack-kernel", ["tar", "-xf", tarball, "-C", fresh, "--strip-components=1"],
                     title=tarball.name)
        shutil.rmtree(holder)
    _make("kernel", paths.KERNEL, paths.SRC / "kernel.key", _key(cache, [item]), fill)


def _packages(cache, name, tree, items):
    debs = [p for item in items for p in cache.checked(item)] if not _current(
        tree, paths.BUILD / f"{name}.key", _key(cache, items)) else []
    _make(name, tree, paths.BUILD / f"{name}.key", _key(cache, items), lambda fresh: _dpkg_x(name, debs, fresh))


def qemu_version(tree):
    """The version of a QEMU tree. Raises TreeError if it is none, or none of ours."""
    try:
        version = (tree / "VERSION").read_text().strip()
        (tree / "hw" / "meson.build").stat()
    except OSError:
        raise TreeError(f"QEMU_SRC={tree}: not a QEMU source tree (no VERSION, no hw/meson.build)") from None
    if not version.startswith("10.0."):
        raise TreeError(f"QEMU_SRC={tree}: version {version}; the hooks are for 10.0.x")
    return version


def linux_version(tree):
    """The version of a Linux tree. Raises TreeError if it is none, or older than 6.12."""
    try:
        head = (tree / "Makefile").read_text(errors="replace")[:600]
        found = re.search(r"^VERSION = (\d+)\nPATCHLEVEL = (\d+)", head, re.M)
        (tree / "drivers" / "nvme" / "host").stat()
    except OSError:
        found = None
    if not found:
        raise TreeError(f"LINUX_SRC={tree}: not a Linux source tree (no Makefile with VERSION, no drivers/nvme/host)")
    version = int(found[1]), int(found[2])
    if version < (6, 12):
        raise TreeError(f"LINUX_SRC={tree}: version {version[0]}.{version[1]}; 6.12 or later is needed")
    return f"{version[0]}.{version[1]}"


def _git_files(tree):
    """The files of a git work tree that are tracked or new, or None where git does not manage it."""
    argv = ["git", "-C", str(tree), "ls-files", "-z", "-co", "--exclude-standard"]
    done = subprocess.run(argv, capture_output=True)
    return done.stdout if done.returncode == 0 and done.stdout else None


def _mirror(variable, name, origin, tree, keyfile):
    """Bring build/'s copy of a developer's tree up to date; what did not change keeps its time."""
    key = f"{variable}={origin}\n"
    if keyfile.is_file() and keyfile.read_text() != key:
        keyfile.unlink()        # first: a tree that is half gone must not count as current
        shutil.rmtree(tree, ignore_errors=True)
    need_space("tree")
    tree.mkdir(parents=True, exist_ok=True)
    files = _git_files(origin)
    # --update leaves the files that our hooks changed, until the developer changes them again.
    argv = ["rsync", "-a", "--update", "--itemize-changes"]
    listing = paths.SRC / f"{name}.files"
    if files is not None:
        listing.write_bytes(b"\0".join(f for f in files.split(b"\0") if f and (origin / os.fsdecode(f)).exists()))
        argv += ["--from0", f"--files-from={listing}"]
    else:
        argv += [f"--exclude={p}" for p in PRODUCTS]
    done = subprocess.run([*argv, f"{origin}/", f"{tree}/"], capture_output=True, text=True)
    if done.returncode:
        raise TreeError(f"{variable}={origin}: rsync failed: {done.stderr.strip().splitlines()[-1]}")
    changed = [line for line in done.stdout.splitlines() if line.startswith(">f")]
    if changed or not keyfile.is_file() or keyfile.read_text() != key:
        progress.say(name, f"{len(changed)} files taken from {origin}")
        _write_key(keyfile, key)


def own_tree(variable, check):
    """The developer's tree that an environment variable names, checked, or None."""
    value = os.environ.get(variable)
    if not value:
        return None
    tree = Path(value).expanduser().absolute()
    check(tree)
    return tree


def ensure(cache, items, qemu_src, linux_src):
    """Make every tree that the build needs current."""
    paths.SRC.mkdir(parents=True, exist_ok=True)
    by_name = {item["name"]: item for item in items}
    if not paths.QEMU.exists():
        need_space("build")
    _packages(cache, "tools", paths.TOOLS, [by_name["meson"], by_name["python3-pycotap"]])
    _packages(cache, "firmware", paths.FIRMWARE, [by_name["seabios"], by_name["qemu-system-data"]])
    _packages(cache, "userland", paths.USERLAND, [i for i in items if i["kind"] == "userland"])
    for name in ("lwip", "fio"):
        _source(cache, by_name[name])
    if qemu_src:
        _mirror("QEMU_SRC", "qemu", qemu_src, paths.SRC / "qemu", paths.SRC / "qemu.key")
    else:
        _source(cache, by_name["qemu"])
    if linux_src:
        _mirror("LINUX_SRC", "kernel", linux_src, paths.KERNEL, paths.SRC / "kernel.key")
    else:
        _kernel(cache, by_name["linux-source-6.12"])
