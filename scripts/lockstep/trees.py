# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacks what was fetched under build/, or mirrors a developer's own trees there.

Each tree has a key file that says what it was made from. A tree is made beside
its place and renamed, so that an interruption leaves none half made; it is made
anew only when its key changes.
"""
import fnmatch
import json
import os
import re
import shutil
import stat
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
    if tree.exists():
        progress.say(name, f"removes {tree}, which is of another source")
        shutil.rmtree(tree)
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


def _is_product(path):
    return any(fnmatch.fnmatch("/" + path if pattern.startswith("/") else os.path.basename(path), pattern)
               for pattern in PRODUCTS)


def _files(tree):
    """The paths below a tree that belong to it: what git knows or would add, else all but build products."""
    argv = ["git", "-C", str(tree), "ls-files", "-z", "-co", "--exclude-standard"]
    done = subprocess.run(argv, capture_output=True)
    if done.returncode == 0 and done.stdout:
        return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
    found = []
    for folder, names, files in os.walk(tree):
        below = os.path.relpath(folder, tree) + "/" if folder != str(tree) else ""
        links = [n for n in names if os.path.islink(os.path.join(folder, n))]
        names[:] = [n for n in names if n not in links and not _is_product(below + n)]
        found += [below + n for n in files + links if not _is_product(below + n)]
    return found


def _inventory(tree):
    """What a developer's tree is made of: time, size and mode of each file by its path."""
    found = {}
    for path in _files(tree):
        try:
            info = os.lstat(os.path.join(tree, path))
        except OSError:
            continue                # deleted, and git has not been told
        if not stat.S_ISDIR(info.st_mode):      # a submodule
            found[path] = [info.st_mtime_ns, info.st_size, info.st_mode]
    return found


def _take(variable, origin, tree, names, *options):
    """Copy files by name; their folders are made."""
    listing = b"\0".join(os.fsencode(name) for name in names)
    done = subprocess.run(["rsync", "-a", *options, "--from0", "--files-from=-", f"{origin}/", f"{tree}/"],
                          input=listing, capture_output=True)
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise TreeError(f"{variable}={origin}: rsync failed: {words[-1]}")


def _mirror(variable, name, origin, tree, keyfile):
    """Bring build/'s copy of a developer's tree up to date.

    What did not change since the last time is left alone, with what our hooks put into it and what
    was built from it. A file that did change gets the present time, whatever its own: what was
    built from it is older then, even if an old version has come back.
    """
    key = f"{variable}={origin}\n"
    inventory = keyfile.with_suffix(".inventory")
    present = _inventory(origin)
    if not (_current(tree, keyfile, key) and inventory.is_file()):
        keyfile.unlink(missing_ok=True)     # first: a tree that is half gone must not count as current
        if tree.exists():
            progress.say(name, f"removes {tree}, which is of another source")
            shutil.rmtree(tree)
        need_space("tree")
        progress.say(name, f"copies {len(present)} files from {origin}")
        tree.mkdir(parents=True)
        _take(variable, origin, tree, present)
    else:
        before = json.loads(inventory.read_text())
        changed = [path for path in present if before.get(path) != present[path]]
        gone = [path for path in before if path not in present]
        if not changed and not gone:
            return
        for path in gone:
            (tree / path).unlink(missing_ok=True)
        _take(variable, origin, tree, changed, "--no-times", "--ignore-times", "--force")
        progress.say(name, f"{len(changed)} files taken from {origin}, {len(gone)} removed")
    _write_key(inventory, json.dumps(present))
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
