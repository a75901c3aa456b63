# SPDX-License-Identifier: GPL-2.0-or-later
"""`testbed run smoke`: stable keys, files in the results folder, provenance, errors."""
import json
import re
import unittest

from guestlib import TOP, testbed

KEYS = ["schema", "experiment", "run_id", "started", "wall_seconds", "system", "subsystems", "verified", "write", "read"]
POINT = ["namespace", "ios", "bytes", "iops", "bytes_per_second", "latency_mean_ns", "latency_max_ns",
         "latency_p99_ns", "errors"]
SIZE = 4 << 20


class Smoke(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.done = testbed("run", "smoke", "--json")
        if cls.done.returncode:
            raise AssertionError(cls.done.stderr)
        cls.result = json.loads(cls.done.stdout)

    def test_keys_are_the_documented_ones(self):
        self.assertEqual(list(self.result), KEYS)
        for part in ("write", "read"):
            for point in self.result[part]:
                self.assertEqual(list(point), POINT)

    def test_every_namespace_wrote_read_and_verified_its_bytes(self):
        self.assertIs(self.result["verified"], True)
        self.assertEqual(len(self.result["write"]), 4)
        for part in ("write", "read"):
            for point in self.result[part]:
                self.assertEqual((point["bytes"], point["ios"], point["errors"]), (SIZE, SIZE // 4096, 0))

    def test_each_subsystem_has_its_namespace_two_controllers_and_an_optimized_path_on_each(self):
        self.assertEqual(len(self.result["subsystems"]), 4)
        for entry in self.result["subsystems"].values():
            self.assertEqual(len(entry["namespaces"]), 1)
            self.assertEqual([c["state"] for c in entry["controllers"]], ["live", "live"])
            self.assertEqual([p["ana_state"] for p in entry["paths"]], ["optimized", "optimized"])
            self.assertEqual(len({p["name"] for p in entry["paths"]}), 2)

    def test_run_id_start_and_wall_time_have_fields_of_their_own(self):
        self.assertRegex(self.result["run_id"], r"^\d{8}T\d{6}Z-[0-9a-f]{4}$")
        self.assertRegex(self.result["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$")
        self.assertGreater(self.result["wall_seconds"], 0)

    def test_results_folder_holds_result_console_and_provenance(self):
        folder = TOP / "results" / "smoke" / self.result["run_id"]
        self.assertEqual(json.loads((folder / "result.json").read_text()), self.result)
        provenance = json.loads((folder / "provenance.json").read_text())
        for part in ("kernel", "image", "qemu", "target_sim"):
            self.assertTrue(re.fullmatch(r"[0-9a-f]{64}", provenance[part]), part)
        self.assertTrue((folder / "console.log").is_file())
        self.assertEqual(list(folder.glob("*.new")), [])

    def test_unknown_experiment_is_refused_by_name(self):
        done = testbed("run", "nonsense")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nonsense", done.stderr)
        self.assertIn("smoke", done.stderr)

    def test_list_as_json_names_smoke(self):
        listed = json.loads(testbed("list", "--json").stdout)
        self.assertIn("smoke", [entry["name"] for entry in listed])


if __name__ == "__main__":
    import tap
    tap.main()
