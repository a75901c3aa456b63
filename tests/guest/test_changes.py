# SPDX-License-Identifier: GPL-2.0-or-later
"""What the target's control changes under I/O, as a Linux host sees it: discovery, ANA, namespaces."""
import json
import subprocess
import unittest

import guestlib
from guestlib import boot, run
from lockstep import paths
from lockstep.target import Target

NQN = "nqn.2026-01.org.lockstep:changes"


def config():
    """One subsystem on two ports."""
    ports = [{"addr": {"adrfam": "ipv4", "traddr": "127.0.0.1", "trsvcid": 0, "trtype": "tcp"},
              "portid": number, "subsystems": [NQN]} for number in (1, 2)]
    return json.dumps({"ports": ports, "subsystems": [{
        "nqn": NQN, "attr": {"allow_any_host": 1},
        "namespaces": [{"nsid": 1, "enable": 1, "device": {"path": "ram:64M"}}]}]})


# mark of the guest: what is done at it, by `target-sim ctl`
SPACE = f"subsystems/{NQN}/namespaces/2"
CHANGES = {
    "discovery": [("mkdir", f"subsystems/{NQN}:new"), ("set", f"subsystems/{NQN}:new/attr_allow_any_host", 1),
                  ("link", f"ports/1/subsystems/{NQN}:new")],
    "ana": [("set", "ports/1/ana_groups/1/ana_state", "inaccessible")],
    "ana-back": [("set", "ports/1/ana_groups/1/ana_state", "optimized")],
    "add": [("mkdir", SPACE), ("set", f"{SPACE}/device_path", "ram:16M"), ("set", f"{SPACE}/enable", 1)],
    "resize": [("set", f"{SPACE}/device_size", "32M")],
    "remove": [("rmdir", SPACE)],
}


class Changes(unittest.TestCase):
    def test_a_host_sees_each_change_under_io_and_no_command_fails(self):
        with run.Run("changes") as session:
            path = session.folder / "config.json"
            path.write_text(config())
            control = session.sockets / "control"
            target = Target(session.folder, ["--config", path, "--advertise", "10.0.2.2", "--control", control])
            target.start()
            session.targets.append(target)
            ports = [port["trsvcid"] for port in target.ready["ports"]]
            session.give_script(guestlib.HERE / "changes.sh", {
                "TRADDR": "10.0.2.2", "PORT_A": ports[0], "PORT_B": ports[1], "NQN": NQN})
            session.start_qemu(guestlib.options("--cpus", 2), boot.machine.choose_accel("auto"))
            for mark, changes in CHANGES.items():
                session.wait_mark("begin", mark, 90)
                for words in changes:
                    subprocess.run([paths.TARGET_SIM, "ctl", "--socket", control, *map(str, words)], check=True,
                                   timeout=20)
            status = session.wait_exit(120)
            dmesg, events = session.blob("dmesg.txt"), session.blob("uevents")
            job = boot.fio_jobs(session.folder_out / "fio.json")[0]
        self.assertEqual(status, 0)
        self.assertEqual(job["error"], 0)
        self.assertGreater(job["read"]["total_ios"], 100)
        self.assertIn("NVME_AEN=0x70f002", events)
        for word in ("I/O error", "I/O Error", "critical", "failed"):
            self.assertNotIn(word, dmesg)


if __name__ == "__main__":
    import tap
    tap.main()
