# SPDX-License-Identifier: GPL-2.0-or-later
"""`testbed diverge`: where two hash logs of lockstep runs part, and in what."""
import itertools
import json
import re
from pathlib import Path

ROUND = re.compile(r"round (\d+) time (\d+) chain ([0-9a-f]{16})")
CPU = re.compile(r"cpu (\d+)((?: \w+=[0-9a-f-]+)+)")


class LogError(ValueError):
    """A file is no hash log; the text names the file and the line."""


def add_parser(verbs):
    parser = verbs.add_parser(
        "diverge", help="the first round in which two lockstep runs differ",
        description="Compares two hash logs (--hash-log) and names the first round that differs, the vCPUs and "
                    "the registers in which it does. Exit status 0 when both are the same to the end, else 1.")
    parser.add_argument("a", type=Path, metavar="A", help="hash log, or folder of a run that holds hash.log")
    parser.add_argument("b", type=Path, metavar="B", help="the other")
    parser.add_argument("--json", action="store_true", help="the answer as JSON on standard output")
    parser.set_defaults(run=main)


def records(path):
    """The rounds of a log as {"round", "time_ns", "chain", "cpus": {number: {name: value}}}, one at a time."""
    record = None
    with open(path / "hash.log" if path.is_dir() else path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith("\n"):
                break               # cut off in the middle, as by a kill
            if found := ROUND.fullmatch(line.strip()):
                if record:
                    yield record
                record = {"round": int(found[1]), "time_ns": int(found[2]), "chain": found[3], "cpus": {}}
            elif record and (found := CPU.fullmatch(line.strip())):
                record["cpus"][int(found[1])] = dict(word.split("=", 1) for word in found[2].split())
            else:
                raise LogError(f"{path}, line {number}: this is not a hash log of a lockstep run")
    if record:
        yield record


def differences(a, b):
    """What differs between two records: [vCPU, name, value of A, value of B]."""
    found = []
    for cpu in sorted(a["cpus"].keys() | b["cpus"].keys()):
        one, other = a["cpus"].get(cpu, {}), b["cpus"].get(cpu, {})
        for name in [*one, *(n for n in other if n not in one)]:
            if one.get(name) != other.get(name):
                found.append([cpu, name, one.get(name), other.get(name)])
    return found


def compare(path_a, path_b):
    """The answer as a dict: same, rounds compared, and the first difference if there is one."""
    last, count = None, 0
    for a, b in itertools.zip_longest(records(path_a), records(path_b)):
        if a is None or b is None:
            return {"same": False, "records": count, "ends_first": "A" if a is None else "B", "last_same_round": last}
        if a != b:
            return {"same": False, "records": count, "round": a["round"], "last_same_round": last,
                    "time_ns": [a["time_ns"], b["time_ns"]], "rounds": [a["round"], b["round"]],
                    "differences": differences(a, b)}
        last, count = a["round"], count + 1
    if not count:
        raise LogError(f"{path_a} and {path_b} are empty")
    return {"same": True, "records": count, "last_same_round": last}


def main(options):
    answer = compare(options.a, options.b)
    if options.json:
        print(json.dumps(answer, indent=1))
        return 0 if answer["same"] else 1
    if answer["same"]:
        print(f"the same in all {answer['records']} records, to round {answer['last_same_round']}")
        return 0
    after = "the first record" if answer["last_same_round"] is None else f"round {answer['last_same_round']}"
    if "ends_first" in answer:
        print(f"the same to {after}, where {answer['ends_first']} ends")
        return 1
    print(f"first difference in round {answer['round']} (A {answer['time_ns'][0]} ns, B {answer['time_ns'][1]} ns); "
          f"the same up to {after}")
    for cpu, name, one, other in answer["differences"]:
        print(f"  cpu {cpu} {name}: A {one}, B {other}")
    if not answer["differences"]:
        print("  only in time or in the chain: an earlier record is missing in one of them")
    return 1
