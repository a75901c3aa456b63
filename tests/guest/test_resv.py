# SPDX-License-Identifier: GPL-2.0-or-later
"""A reservation conflict between two hosts as the guest's kernel and nvme-cli see it.

NVMe base specification 2.0, 7.2 to 7.5 and 8.19. EBADE is what Linux makes of Reservation Conflict.
"""
import json
import unittest

import guestlib

CONFIG = guestlib.HERE / "resv.json"
CONFLICT, EBADE = "Reservation Conflict", "Invalid exchange"


class Reservations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        status, cls.blobs, cls.ready = guestlib.guest(
            "resv", "resv.sh", ["--config", str(CONFIG), "--cpus", "2", "--append", "nvme_core.multipath=N"])
        if status:
            raise AssertionError(cls.blobs.get("failure.txt", f"the guest's status is {status}"))
        cls.calls = {}
        for line in cls.blobs["calls.tsv"].splitlines():
            name, code, err = line.split("\t")
            cls.calls[name] = (int(code), err)

    def succeeded(self, *names):
        for name in names:
            self.assertEqual(self.calls[name][0], 0, f"{name}: {self.calls[name][1]}")

    def failed(self, name, words):
        code, err = self.calls[name]
        self.assertNotEqual(code, 0, name)
        self.assertIn(words.lower(), (err + self.blobs[name]).lower())

    def test_namespace_offers_every_type_and_no_persistence(self):
        self.assertEqual(json.loads(self.blobs["id-ns.json"])["rescap"], 0xFE)
        self.succeeded("a-persist")

    def test_holder_writes_and_the_other_host_reads_only(self):
        self.succeeded("a-register", "b-register", "a-acquire", "a-write", "b-read")
        self.failed("b-write", EBADE)
        self.failed("b-acquire", CONFLICT)

    def test_report_lists_both_hosts(self):
        self.succeeded("report.json")
        report = json.loads(self.blobs["report.json"])
        self.assertEqual((report["gen"], report["rtype"], report["ptpls"]), (2, 1, 0))
        registrants = report.get("regctlext") or report["regctl_eds"]
        self.assertEqual([(r["rkey"], r["rcsts"]) for r in registrants], [(0xA, 1), (0xB, 0)])

    def test_preemption_locks_the_old_holder_out_and_tells_it(self):
        self.succeeded("b-preempt", "a-notice.json", "b-release", "a-read-again")
        self.failed("a-read", EBADE)
        notice = json.loads(self.blobs["a-notice.json"])
        # Registration preempted, namespace 1; no page behind this one.
        self.assertEqual(notice, {"count": 1, "rn_log_type": 1, "num_logs": 0, "NSID": 1})


if __name__ == "__main__":
    import tap
    tap.main()
