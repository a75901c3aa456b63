# SPDX-License-Identifier: GPL-2.0-or-later
"""`testbed list` and `testbed run`: experiments by name, results in results/<name>/<run id>/."""
import json
import os
import sys
import time
from datetime import datetime, timezone

from . import boot, fetch, machine, options as opts, paths, table
from .run import Run, GuestError

SMOKE_SIZE = 4 << 20            # bytes written and verified, then read, on each namespace
RUN_SECONDS = 300
SCHEMA = 1

EXPERIMENTS = {
    "smoke": "fio writes, verifies and reads a little on every namespace of 4 subsystems with 2 paths",
}


def add_parser(verbs):
    listing = verbs.add_parser("list", help="the experiments", description="Lists the experiments.")
    listing.add_argument("--json", action="store_true", help="as JSON on standard output")
    listing.set_defaults(run=list_main)
    parser = verbs.add_parser(
        "run", help="run an experiment", description="Runs an experiment; results go to results/<name>/<run id>/.")
    parser.add_argument("experiment", choices=sorted(EXPERIMENTS), help="its name (see testbed list)")
    parser.add_argument("--json", action="store_true", help="the result as JSON on standard output")
    opts.add_machine(parser)
    opts.add_target(parser)
    opts.add_connect(parser, digests=True)
    parser.set_defaults(run=run_main)


def list_main(options):
    if options.json:
        print(json.dumps([{"name": n, "about": a} for n, a in sorted(EXPERIMENTS.items())], indent=1))
    else:
        print(table.render(["experiment", "what it shows"], sorted(EXPERIMENTS.items())))
    return 0


def write_atomically(path, text):
    """The whole file or none; an OSError names it."""
    temp = path.with_name(path.name + ".new")
    try:
        with open(temp, "w") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temp, path)
    except OSError as err:
        temp.unlink(missing_ok=True)
        raise OSError(err.errno, err.strerror, str(path)) from None


def point(name, job, direction):
    """The figures of one fio job that a program compares: stable names, units in them."""
    data = job[direction]
    return {"namespace": name, "ios": data["total_ios"], "bytes": data["io_bytes"],
            "iops": round(data["iops"], 1), "bytes_per_second": data["bw_bytes"],
            "latency_mean_ns": round(data["lat_ns"]["mean"], 1), "latency_max_ns": data["lat_ns"]["max"],
            "latency_p99_ns": data["clat_ns"].get("percentile", {}).get("99.000000", 0),
            "errors": job["error"]}


def system(accel, options):
    """What the figures were measured on."""
    common = {"accel": accel, "cpus": options.cpus, "memory_mib": options.memory, "digests": options.digests}
    if options.lockstep:
        return {"mode": "lockstep", **common, "quantum_ns": options.quantum or 1000, "seed": options.seed or 0,
                "rate": options.rate or "1", "pause_ns": options.pause or 40}
    return {"mode": "live", **common, "nic": options.nic or machine.NIC}


def smoke_result(run, accel, options, subsystems):
    written = json.loads(run.blob("verify.json"))["jobs"]
    read = json.loads(run.blob("read.json"))["jobs"]
    verified = all(j["error"] == 0 and j["read"]["io_bytes"] == j["write"]["io_bytes"] == SMOKE_SIZE for j in written)
    return {
        "system": system(accel, options),
        "subsystems": subsystems,
        "verified": verified,
        "write": [point(j["jobname"], j, "write") for j in written],
        "read": [point(j["jobname"], j, "read") for j in read],
    }


def provenance(options):
    """Hashes of all that a run was made with."""
    built = paths.BUILD / "provenance.json"
    return {"kernel": fetch.sha256(options.kernel), "image": fetch.sha256(options.initrd),
            "qemu": fetch.sha256(paths.QEMU), "target_sim": fetch.sha256(paths.TARGET_SIM),
            "config": fetch.sha256(options.config) if options.config else None,
            "sources": json.loads(built.read_text()) if built.exists() else None}


def run_main(options):
    name = options.experiment
    began, started = time.monotonic(), datetime.now(timezone.utc).isoformat(timespec="seconds")
    with Run(name, results=paths.RESULTS) as run:
        accel, _ = boot.start(run, options, f"{name}.sh", {"SMOKE_SIZE": SMOKE_SIZE})
        boot.say(f"{name}: guest starts ({boot.machine_name(options, accel)})")
        for phase in ("verify", "read"):
            run.wait_mark("begin", phase, RUN_SECONDS)
            boot.say(f"{name}: {phase} after {time.monotonic() - began:.1f} s")
        status = run.wait_exit(RUN_SECONDS)
        if status:
            failure = run.folder_out / "failure.txt"
            raise GuestError(f"{name}: " + (failure.read_text().strip() if failure.exists()
                                            else f"the guest's status is {status}"))
        subsystems = table.parse_description(run.blob("table.tsv"))
        result = {"schema": SCHEMA, "experiment": name, "run_id": run.run_id, "started": started,
                  "wall_seconds": round(time.monotonic() - began, 2),
                  **smoke_result(run, accel, options, subsystems)}
        write_atomically(run.folder / "provenance.json", json.dumps(provenance(options), indent=1) + "\n")
        write_atomically(run.folder / "result.json", json.dumps(result, indent=1) + "\n")
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        print(table.subsystem_table(result["subsystems"]))
        print()
        print(result_table(result))
        print(f"\nresults: {run.folder}")
    return 0 if result["verified"] else 1


def result_table(result):
    rows = [[w["namespace"], w["iops"], r["iops"], round(w["latency_mean_ns"] / 1000, 1),
             round(r["latency_mean_ns"] / 1000, 1), "yes" if w["errors"] == 0 else "NO"]
            for w, r in zip(result["write"], result["read"])]
    return table.render(["namespace", "write IOPS", "read IOPS", "write us", "read us", "verified"], rows)
