# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables a person reads, and what the guest says of its NVMe subsystems."""


def render(header, rows):
    """Columns as wide as their widest cell; numbers to the right."""
    cells = [list(map(str, header))] + [list(map(str, row)) for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    right = [bool(rows) and all(isinstance(row[i], (int, float)) for row in rows) for i in range(len(header))]

    def line(row):
        return "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right)).rstrip()
    return "\n".join([line(cells[0]), "  ".join("-" * w for w in widths), *map(line, cells[1:])])


def human_size(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:g} {unit}" if count % 1 == 0 else f"{count:.1f} {unit}"
        count /= 1024


def parse_description(text):
    """The guest's `describe` lines as {nqn: {controllers, namespaces, paths}}."""
    subsystems = {}
    for line in text.splitlines():
        kind, nqn, *rest = line.split("\t")
        entry = subsystems.setdefault(nqn, {"controllers": [], "namespaces": [], "paths": []})
        if kind == "controller":
            name, address, state, queues = rest
            entry["controllers"].append({"name": name, "address": address, "state": state, "queues": int(queues)})
        elif kind == "namespace":
            name, size, block = rest
            entry["namespaces"].append({"name": name, "size": int(size), "block_size": int(block)})
        elif kind == "path":
            entry["paths"].append({"name": rest[0], "ana_state": rest[1]})
    for entry in subsystems.values():
        entry["controllers"].sort(key=lambda c: c["address"])
    return dict(sorted(subsystems.items()))


def subsystem_table(subsystems):
    """Subsystem, path, controller, namespace, queues, state: a line for each controller."""
    rows = []
    for nqn, entry in subsystems.items():
        spaces = ", ".join(f"{n['name']} ({human_size(n['size'])}, {n['block_size']} B)"
                           for n in entry["namespaces"])
        for number, controller in enumerate(entry["controllers"]):
            fields = dict(f.split("=", 1) for f in controller["address"].split(",") if "=" in f)
            path = f"{fields.get('traddr', '?')}:{fields.get('trsvcid', '?')}"
            rows.append([nqn.rsplit(":", 1)[-1] if number == 0 else "", path, controller["name"],
                         spaces if number == 0 else "", controller["queues"], controller["state"]])
    return render(["subsystem", "path", "controller", "namespaces", "queues", "state"], rows)
