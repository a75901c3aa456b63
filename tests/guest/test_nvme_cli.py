# SPDX-License-Identifier: GPL-2.0-or-later
"""nvme-cli in the guest against target-sim: every output field by field against nvme_cli.json.

One guest runs all the calls (nvme_cli.sh); the cases look at what each left.
"""
import json
import unittest

import guestlib

CONFIG = guestlib.HERE / "nvme_cli.json"
MIB = 1 << 20
VERSIONS = {"1.4": 0x10400, "2.0": 0x20000}     # NVM Express Base 2.0, 3.1.3.2
QUEUE_ENTRIES = 128                             # of a queue, where nothing else is configured


class NvmeCli(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.config = json.loads(CONFIG.read_text())
        cls.subsystems = {s["nqn"]: s for s in cls.config["subsystems"]}
        status, cls.blobs, cls.ready = guestlib.guest(
            "nvme-cli", "nvme_cli.sh", ["--config", str(CONFIG), "--cpus", "2"])
        if status:
            raise AssertionError(cls.blobs.get("failure.txt", f"the guest's status is {status}"))
        cls.calls = {}
        for line in cls.blobs["calls.tsv"].splitlines():
            name, code, err = line.split("\t")
            cls.calls[name] = (int(code), err)
        cls.controllers = sorted(n.split(".")[0] for n in cls.blobs if n.endswith(".address"))

    def output(self, name):
        return json.loads(self.blobs[name])

    def nqn(self, device):
        return self.blobs[f"{device}.nqn"].strip()

    def test_every_call_succeeds(self):
        self.assertEqual({n: v for n, v in self.calls.items() if v[0] and n != "dmesg.bad"}, {})

    def test_discover_lists_each_subsystem_on_each_of_its_ports_and_itself(self):
        records = self.output("discover.json")["records"]
        ports = {p["portid"]: p for p in self.ready["ports"]}
        expected = {(nqn, p["traddr"], p["trsvcid"]) for port in self.config["ports"]
                    for nqn in port["subsystems"] for p in [ports[port["portid"]]]}
        found = {(r["subnqn"], r["traddr"], r["trsvcid"]) for r in records if r["subtype"] == "nvme subsystem"}
        self.assertEqual(found, expected)
        numbers = {p["trsvcid"]: p["portid"] for p in self.ready["ports"]}
        for record in records:
            self.assertEqual((record["trtype"], record["adrfam"]), ("tcp", "ipv4"))
            self.assertEqual(record["portid"], numbers[record["trsvcid"]])
            self.assertEqual(record["treq"].split(",")[0], "not specified")
        own = [r for r in records if "discovery" in r["subtype"]]
        self.assertEqual(len(own), 1)
        self.assertEqual(own[0]["subnqn"], "nqn.2014-08.org.nvmexpress.discovery")

    def test_list_subsys_shows_every_path_live(self):
        hosts = self.output("list-subsys.json")
        listed = {s["NQN"]: s for host in hosts for s in host["Subsystems"]}
        self.assertEqual(set(listed), set(self.subsystems))
        wanted = {nqn: sum(nqn in p["subsystems"] for p in self.config["ports"]) for nqn in self.subsystems}
        for nqn, entry in listed.items():
            self.assertEqual(len(entry["Paths"]), wanted[nqn])
            for path in entry["Paths"]:
                self.assertEqual((path["Transport"], path["State"]), ("tcp", "live"))
            ports = {p["portid"]: p for p in self.ready["ports"]}
            addresses = {(p["traddr"], p["trsvcid"]) for port in self.config["ports"]
                         if nqn in port["subsystems"] for p in [ports[port["portid"]]]}
            listed_at = {tuple(dict(f.split("=", 1) for f in path["Address"].split(","))[k]
                               for k in ("traddr", "trsvcid")) for path in entry["Paths"]}
            self.assertEqual(listed_at, addresses)

    def test_id_ctrl_fields_are_those_of_the_configuration(self):
        seen = set()
        for controller in self.controllers:
            data, subsystem = self.output(f"{controller}.id-ctrl.json"), self.subsystems[self.nqn(controller)]
            attr = subsystem["attr"]
            self.assertEqual(data["sn"].strip(), attr["serial"])
            self.assertEqual(data["mn"].strip(), attr["model"])
            if "firmware" in attr:
                self.assertEqual(data["fr"].strip(), attr["firmware"])
            self.assertEqual(data["ver"], VERSIONS[attr.get("version", "2.0")])
            self.assertEqual(data["subnqn"], subsystem["nqn"])
            low, high = int(attr.get("cntlid_min", 1)), int(attr.get("cntlid_max", 65519))
            self.assertTrue(low <= data["cntlid"] <= high, data["cntlid"])
            seen.add((subsystem["nqn"], data["cntlid"]))
            self.assertEqual(data["cntrltype"], 1)
            self.assertEqual((data["sqes"], data["cqes"]), (0x66, 0x44))
            self.assertEqual(data["cmic"] & 0xa, 0xa)       # multi-controller, ANA
            self.assertNotEqual(data["kas"], 0)
            self.assertNotEqual(data["sgls"] & 3, 0)
            self.assertGreaterEqual(data["nn"], max(n["nsid"] for n in subsystem["namespaces"]))
            self.assertEqual(data["icdoff"], 0)
            port = self.port_of(controller)
            self.assertEqual((data["ioccsz"] - 4) * 16, int(port["param"]["inline_data_size"]))
        self.assertEqual(len(seen), len(self.controllers))

    def port_of(self, controller):
        fields = dict(f.split("=", 1) for f in self.blobs[f"{controller}.address"].strip().split(","))
        number = next(p["portid"] for p in self.ready["ports"] if p["trsvcid"] == fields["trsvcid"])
        return next(p for p in self.config["ports"] if p["portid"] == number)

    def test_namespaces_have_size_format_and_identifiers_of_the_configuration(self):
        sizes = {"ram:64M": 64 * MIB, "null:1G": 1024 * MIB, "ram:32M": 32 * MIB}
        nodes = sorted(n.split(".")[0] for n in self.blobs if n.endswith(".id-ns.json"))
        found = set()
        for node in nodes:
            data = self.output(f"{node}.id-ns.json")
            descriptors = self.output(f"{node}.ns-descs.json")
            text = json.dumps(descriptors)
            entry = next(n for n in self.subsystems[self.nqn(node)]["namespaces"] if n["device"]["uuid"] in text)
            found.add((self.nqn(node), entry["nsid"]))
            self.assertEqual(data["nsze"] * 512, sizes[entry["device"]["path"]])
            self.assertEqual(data["ncap"], data["nsze"])
            self.assertEqual(data["lbafs"][data["flbas"] & 0xf]["ds"], 9)
            self.assertEqual(data["nmic"] & 1, 1)
            self.assertEqual(data["anagrpid"], entry["ana_grpid"])
            if "nguid" in entry["device"]:
                self.assertEqual(data["nguid"].replace("-", ""), entry["device"]["nguid"].replace("-", ""))
        self.assertEqual(found, {(s["nqn"], n["nsid"]) for s in self.config["subsystems"] for n in s["namespaces"]})

    def test_list_ns_names_the_configured_nsids(self):
        for controller in self.controllers:
            listed = [n["nsid"] for n in self.output(f"{controller}.list-ns.json")["nsid_list"]]
            self.assertEqual(listed, [n["nsid"] for n in self.subsystems[self.nqn(controller)]["namespaces"]])

    def test_smart_log_is_healthy(self):
        for controller in self.controllers:
            data = self.output(f"{controller}.smart-log.json")
            self.assertEqual(data["critical_warning"], 0)
            self.assertEqual((data["avail_spare"], data["percent_used"]), (100, 0))
            self.assertLess(data["spare_thresh"], data["avail_spare"])
            self.assertEqual((data["media_errors"], data["unsafe_shutdowns"]), (0, 0))
            self.assertTrue(273 <= data["temperature"] < 273 + 70, data["temperature"])     # kelvin

    def test_error_log_has_the_entries_that_id_ctrl_announces(self):
        for controller in self.controllers:
            entries = self.output(f"{controller}.error-log.json")["errors"]
            elpe = self.output(f"{controller}.id-ctrl.json")["elpe"]        # zero-based
            self.assertEqual(len(entries), min(64, elpe + 1))
            counts = [e["error_count"] for e in entries]
            self.assertEqual(counts, sorted(counts, reverse=True))          # newest first

    def test_ana_log_has_the_state_of_the_port(self):
        states = {"optimized": ("optimized", 1), "non-optimized": ("non-optimized", 2)}
        for controller in self.controllers:
            port = self.port_of(controller)
            data = self.output(f"{controller}.ana-log.json")
            groups = data.get("ANA DESC LIST ") or data.get("ANA DESC LIST") or data["descriptors"]
            state = port["ana_groups"][0]["ana"]["state"]
            self.assertEqual(len(groups), 1)
            self.assertIn(groups[0]["state"], states[state])
            nsids = [n["nsid"] if isinstance(n, dict) else n for n in groups[0]["NSIDS"]]
            self.assertEqual(nsids, [n["nsid"] for n in self.subsystems[self.nqn(controller)]["namespaces"]])

    def test_show_regs_reads_an_enabled_controller_of_the_configured_version(self):
        for controller in self.controllers:
            data, attr = self.output(f"{controller}.show-regs.json"), self.subsystems[self.nqn(controller)]["attr"]
            cap, cc = data["cap"], data["cc"]
            self.assertEqual(data["vs"], VERSIONS[attr.get("version", "2.0")])
            self.assertEqual(cap & 0xffff, QUEUE_ENTRIES - 1)           # MQES, zero-based
            self.assertEqual(cap >> 16 & 1, 1)                          # CQR: fabrics queues are contiguous
            self.assertNotEqual(cap >> 24 & 0xff, 0)                    # TO
            self.assertEqual(cap >> 32 & 0xf, 0)                        # DSTRD is reserved in fabrics
            self.assertEqual(cap >> 37 & 1, 1)                          # CSS: the NVM command set
            self.assertEqual(cap >> 48 & 0xf, 0)                        # MPSMIN: 4 KiB
            self.assertEqual((cc & 1, cc >> 16 & 0xf, cc >> 20 & 0xf), (1, 6, 4))   # EN, IOSQES, IOCQES
            self.assertEqual(data["csts"] & 0xf, 1)                     # RDY; no CFS, no shutdown

    def test_kernel_log_has_no_complaint(self):
        self.assertEqual(self.blobs["dmesg.bad"].strip(), "")


if __name__ == "__main__":
    import tap
    tap.main()
