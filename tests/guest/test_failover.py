# SPDX-License-Identifier: GPL-2.0-or-later
"""Kill -9 of a target under fio: the other path carries on, the lost one comes back, all data verify."""
import json
import os
import signal
import unittest

import guestlib
from guestlib import boot, run
from lockstep.target import Target

NQN = "nqn.2026-01.org.lockstep:shared"


def config(backing, low, port):
    """One subsystem on one port; two of these are two paths to the same namespace."""
    return json.dumps({
        "hosts": [],
        "ports": [{"addr": {"adrfam": "ipv4", "traddr": "127.0.0.1", "trsvcid": str(port), "trtype": "tcp"},
                   "portid": low, "referrals": [], "subsystems": [NQN]}],
        "subsystems": [{"nqn": NQN, "allowed_hosts": [],
                        "attr": {"allow_any_host": "1", "serial": "SHARED0001", "model": "Lockstep shared",
                                 "cntlid_min": str(low), "cntlid_max": str(low + 99)},
                        "namespaces": [{"nsid": 1, "enable": 1, "device": {
                            "path": f"file:{backing}?size=64M",
                            "uuid": "7a4be6a1-7b5c-4f5e-8f0a-6d1f00000001"}}]}]})


class Failover(unittest.TestCase):
    def start_target(self, session, name, low, port):
        path = session.folder / f"{name}.config.json"
        path.write_text(config(session.folder / "disk", low, port))
        target = Target(session.folder, ["--config", path, "--advertise", "10.0.2.2"], name)
        target.start()
        session.targets.append(target)
        return target

    def test_kill_9_of_one_target_under_fio_loses_nothing(self):
        with run.Run("failover") as session:
            session.watch_targets = False
            first = self.start_target(session, "first", 1, 0)
            second = self.start_target(session, "second", 101, 0)
            port = first.ready["ports"][0]["trsvcid"]
            options = guestlib.options("--cpus", 2)
            session.give_script(guestlib.HERE / "failover.sh", {
                "TRADDR": "10.0.2.2", "PORT_A": port, "PORT_B": second.ready["ports"][0]["trsvcid"], "NQN": NQN})
            session.start_qemu(options, boot.machine.choose_accel("auto"))
            session.wait_mark("begin", "io", 60)
            os.kill(first.process.pid, signal.SIGKILL)
            first.process.wait()
            session.wait_mark("begin", "lost", 60)
            self.start_target(session, "first-again", 1, port)
            status = session.wait_exit(120)
            dmesg, states = session.blob("dmesg.txt"), session.blob("states.txt").splitlines()
            job = json.loads(session.blob("fio.json"))["jobs"][0]
        self.assertEqual(status, 0, dmesg)
        self.assertEqual(job["error"], 0)
        self.assertEqual(job["read"]["io_bytes"], job["write"]["io_bytes"])
        self.assertTrue(any("connecting" in s or "resetting" in s for s in states), states)
        self.assertEqual(states[-1].split(), ["live", "live"])
        self.assertIn("Reconnect", dmesg)
        self.assertNotIn("I/O error", dmesg)


if __name__ == "__main__":
    import tap
    tap.main()
