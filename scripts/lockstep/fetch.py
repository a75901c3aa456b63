# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches sources and packages through apt, without touching the machine's own apt.

apt runs on a private list directory in the cache folder, for the releases that
scripts/sources.toml names, from the mirrors that the machine itself uses. apt
checks the signatures of the lists and the hashes of the files; we record the
hashes and check them again whenever a file is taken out of the cache.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

from . import paths, progress

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class FetchError(Exception):
    """Something that is needed cannot be had; the text says what and why."""


def wanted():
    """The items of sources.toml and images/userland.packages: dicts with kind, name, release, series."""
    with open(paths.TOP / "scripts" / "sources.toml", "rb") as stream:
        table = tomllib.load(stream)
    items = [dict(kind="source", **s) for s in table["source"]]
    items += [dict(kind="package", **p) for p in table["package"]]
    for line in (paths.TOP / "images" / "userland.packages").read_text().splitlines():
        name = line.split("#")[0].strip()
        if name:
            items.append(dict(kind="userland", name=name, release="trixie", series=""))
    return items


def fits(version, series):
    """Whether a package version, its epoch aside, belongs to a series ("10.0.")."""
    return version.split(":", 1)[-1].startswith(series)


def sha256(path):
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class Cache:
    """The download folder and its index: item -> version, files and their hashes."""

    def __init__(self, root):
        self.root = root
        self.files = root / "downloads"
        self.index_path = root / "index.json"
        self.files.mkdir(parents=True, exist_ok=True)
        try:
            self.index = json.loads(self.index_path.read_text())
        except (FileNotFoundError, ValueError):
            self.index = {}

    @staticmethod
    def key(item):
        return f"{'source' if item['kind'] == 'source' else 'package'}:{item['name']}:{item['release']}"

    def get(self, item):
        """The index entry of an item whose files are all here, else None."""
        entry = self.index.get(self.key(item))
        if entry and fits(entry["version"], item["series"]) and all(
                (self.files / name).is_file() for name in entry["files"]):
            return entry
        return None

    def put(self, item, version, names):
        self.index[self.key(item)] = {
            "version": version, "files": {n: sha256(self.files / n) for n in sorted(names)}}
        temp = self.index_path.with_suffix(".new")
        temp.write_text(json.dumps(self.index, indent=1, sort_keys=True) + "\n")
        os.replace(temp, self.index_path)

    def checked(self, item):
        """The paths of an item's files, their hashes checked. Raises FetchError on a damaged file."""
        entry = self.get(item)
        if entry is None:
            raise FetchError(f"{item['name']} is not in {self.files}")
        for name, digest in entry["files"].items():
            if sha256(self.files / name) != digest:
                (self.files / name).unlink()
                raise FetchError(f"{self.files / name} was damaged and has been removed; run make setup again")
        return [self.files / name for name in entry["files"]]


def machine_mirror():
    """The address of the Debian mirror that the machine's own apt uses."""
    cmd = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Label: Debian"]
    seen = subprocess.run(cmd, capture_output=True, text=True).stdout.split()
    if not seen:       # no lists yet: read the sources themselves
        text = ""
        for path in [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]:
            if path.is_file():
                text += path.read_text(errors="replace") + "\n"
        seen = re.findall(r"^(?:URIs:\s*|deb(?:-src)?\s+(?:\[[^]]*\]\s*)?)(\S+/debian/?)(?:\s|$)", text, re.M)
    if not seen:
        raise FetchError("no Debian mirror in this machine's apt sources: add one and run apt-get update")
    return seen[0]


class Apt:
    """apt-get on private lists."""

    def __init__(self, root):
        self.root = root
        for sub in ("lists/partial", "cache/archives/partial"):
            (root / sub).mkdir(parents=True, exist_ok=True)
        self.options = [f"-oDir::Etc::sourcelist={root}/sources.list", "-oDir::Etc::sourceparts=/dev/null",
                        f"-oDir::State::Lists={root}/lists", f"-oDir::Cache={root}/cache",
                        "-oDir::Cache::pkgcache=pkgcache.bin", "-oDir::Cache::srcpkgcache=srcpkgcache.bin",
                        "-oDir::State::status=/dev/null", "-oAPT::Sandbox::User=root",
                        "-oAPT::Get::List-Cleanup=1", "-oAcquire::Retries=3", "-oDebug::NoLocking=1"]

    def update(self, releases):
        mirror = machine_mirror()
        lines = [f"{kind} [signed-by={KEYRING}] {mirror} {release} main\n"
                 for release in sorted(releases) for kind in ("deb", "deb-src")]
        (self.root / "sources.list").write_text("".join(lines))
        progress.run("lists", ["apt-get", *self.options, "update", "--error-on=any"],
                     title="package lists of " + ", ".join(sorted(releases)))

    def versions(self, items):
        """For each item the newest version in its release that belongs to its series."""
        argv = ["apt-cache", *self.options, "madison", *sorted({item["name"] for item in items})]
        known = {}
        for line in subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines():
            name, version, origin = (field.strip() for field in line.split("|"))
            release, index = origin.split()[1].split("/")[0], origin.split()[-1]
            known.setdefault((name, release, index == "Sources"), []).append(version)
        found = []
        for item in items:
            fitting = [v for v in known.get((item["name"], item["release"], item["kind"] == "source"), [])
                       if fits(v, item["series"])]
            if not fitting:
                raise FetchError(f"{item['release']} has no {item['kind']} {item['name']} {item['series']}*")
            found.append((item, fitting[0]))
        return found

    def download(self, step, verb, found, folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        names = [f"{item['name']}={version}" for item, version in found]
        progress.run(step, ["apt-get", *self.options, *verb, *names], cwd=folder,
                     title=" ".join(names) if len(names) < 4 else f"{len(names)} packages")
        return sorted(p.name for p in folder.iterdir() if p.is_file())


def _take(cache, scratch, item, version, names):
    if not names:
        raise FetchError(f"apt fetched nothing for {item['name']} {version}")
    for name in names:
        os.replace(scratch / name, cache.files / name)
    cache.put(item, version, names)


def ensure(items):
    """See that every item is in the cache, fetching what is not. Returns the Cache."""
    cache = Cache(paths.cache())
    missing = [item for item in items if cache.get(item) is None]
    if missing:
        if not os.path.exists(KEYRING):
            raise FetchError(f"{KEYRING} is missing: install debian-archive-keyring")
        apt = Apt(cache.root / "apt")
        apt.update({item["release"] for item in items})
        scratch = cache.root / "incoming"
        found = apt.versions(missing)
        packages = [pair for pair in found if pair[0]["kind"] != "source"]
        if packages:
            names = apt.download("fetch-packages", ["download"], packages, scratch)
            for item, version in packages:
                _take(cache, scratch, item, version, [n for n in names if n.startswith(item["name"] + "_")])
        for item, version in found:
            if item["kind"] == "source":
                names = apt.download(f"fetch-{item['name']}", ["source", "--download-only"],
                                     [(item, version)], scratch)
                _take(cache, scratch, item, version, names)
    return cache
