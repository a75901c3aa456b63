# SPDX-License-Identifier: GPL-2.0-or-later
"""A zoned namespace as the guest's block layer and nvme-cli see it; Copy, Write Uncorrectable.

Linux, Documentation/ABI/stable/sysfs-block; Zoned Namespace Command Set 1.1. EIO is what Linux makes
of statuses that it does not know better.
"""
import json
import unittest

import guestlib

CONFIG = guestlib.HERE / "zoned.json"
BLOCK, ZONE, CAPACITY, ZONES = 4096, 1024, 768, 16      # bytes, blocks, blocks, zones


class Zoned(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        status, cls.blobs, cls.ready = guestlib.guest(
            "zoned", "zoned.sh", ["--config", str(CONFIG), "--cpus", "2"])
        if status:
            raise AssertionError(cls.blobs.get("failure.txt", f"the guest's status is {status}"))
        cls.calls = {}
        for line in cls.blobs["calls.tsv"].splitlines():
            name, code, err = line.split("\t")
            cls.calls[name] = (int(code), err)

    def succeeded(self, *names):
        for name in names:
            self.assertEqual(self.calls[name][0], 0, f"{name}: {self.calls[name][1]}")

    def failed(self, *names):
        for name in names:
            self.assertNotEqual(self.calls[name][0], 0, name)

    def value(self, name):
        self.succeeded(name)
        return self.blobs[name].strip()

    def zones(self, name):
        self.succeeded(name)
        return json.loads(self.blobs[name])["zone_list"]

    def test_block_device_is_zoned_as_configured(self):
        self.assertEqual(self.value("zoned"), "host-managed")
        self.assertEqual(self.value("other-zoned"), "none")
        self.assertEqual(int(self.value("nr_zones")), ZONES)
        self.assertEqual(int(self.value("chunk_sectors")), ZONE * BLOCK // 512)
        self.assertEqual(int(self.value("max_open_zones")), 4)
        self.assertEqual(int(self.value("max_active_zones")), 6)
        self.assertEqual(int(self.value("zone_append_max_bytes")) % BLOCK, 0)
        self.assertNotEqual(int(self.value("zone_append_max_bytes")), 0)

    def test_identify(self):
        self.succeeded("id-ns", "id-ctrl")
        namespace = json.loads(self.blobs["id-ns"])
        self.assertEqual((namespace["mor"], namespace["mar"]), (3, 5))      # zero-based
        self.assertEqual(namespace["lbafe"][0]["zsze"], ZONE)
        self.assertEqual(json.loads(self.blobs["id-ctrl"])["zasl"], 7)

    def test_data_in_order_are_written_and_others_are_not(self):
        self.succeeded("write", "write-on", "read", "append", "append-read")
        self.failed("write-wrong", "finish-full")

    def test_report(self):
        self.succeeded("open", "close", "finish")
        found = [(z["slba"], z["cap"], z["state"]) for z in self.zones("report")]
        states = ["IMP_OPENED", "IMP_OPENED", "CLOSED", "FULL"] + 12 * ["EMPTY"]
        self.assertEqual(found, [(i * ZONE, CAPACITY, state) for i, state in enumerate(states)])
        self.assertEqual([z["wp"] for z in self.zones("report")[:2]], [128, ZONE + 2])

    def test_reset(self):
        self.succeeded("reset", "reset-all", "reset-read", "append-again", "write-again")
        self.assertEqual({z["state"] for z in self.zones("report-reset")}, {"EMPTY"})

    def test_copy_and_write_uncorrectable(self):
        self.succeeded("copy", "uncor")
        self.failed("uncor-read")


if __name__ == "__main__":
    import tap
    tap.main()
