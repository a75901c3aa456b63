# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/target-control: the verbs that blktests (common/nvme) calls, in its order, without blktests."""
import os
import pathlib
import subprocess
import sys

import initiator
from harness import CONFIG, Case, Control
from initiator import receive

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "scripts/target-control"
NQN, UUID = "blktests-subsystem-1", "91fdba0d-f87b-4c25-b80f-db7be1418b9e"
HOST = initiator.host_nqn(0).decode()


class TargetControl(Case):
    def run_program(self, *arguments, **variables):
        env = dict(os.environ, **{"TARGET_SIM_CONTROL": str(self.folder / "control")} | variables)
        return subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True, env=env,
                              timeout=60, check=False)

    def good(self, *arguments, **variables):
        done = self.run_program(*arguments, **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def bad(self, message, *arguments, **variables):
        done = self.run_program(*arguments, **variables)
        self.assertEqual((done.returncode, done.stderr), (1, f"target-control: error: {message}\n"))

    def set_up(self, **variables):
        return self.good("setup", "--subsysnqn", NQN, "--subsys-uuid", UUID, "--hostnqn", HOST, **variables)

    def serving_control(self):
        return self.serving("--config", self.write_config(CONFIG), "--control", self.folder / "control")

    def test_config_shows_where_the_target_is(self):
        with self.serving_control() as daemon:
            shown = {name: self.good("config", f"--show-{name}").rstrip("\n") for name in (
                "blkdev-type", "trtype", "hostnqn", "hostid", "host-traddr", "traddr", "trsvid", "subsysnqn",
                "subsys-uuid")}
            self.assertEqual((shown["traddr"], int(shown["trsvid"])), daemon.address())
            self.assertEqual((shown["trtype"], shown["blkdev-type"]), ("tcp", "device"))
            self.assertEqual(shown["hostnqn"], f"nqn.2014-08.org.nvmexpress:uuid:{shown['hostid']}")
            self.assertEqual(self.good("config", "--show-traddr", TARGET_CONTROL_TRADDR="192.0.2.1"), "192.0.2.1\n")

    def test_set_up_serves_the_host_and_clean_up_leaves_nothing(self):
        with self.serving_control() as daemon:
            control = Control(self.folder / "control")
            before = control.dump()
            for _ in range(2):
                self.set_up(TARGET_CONTROL_DEVICE="ram:4M")
                self.assertEqual(control.get(f"subsystems/{NQN}/namespaces/1/device_uuid"), UUID)
                with initiator.Controller(daemon.address(), NQN) as controller:
                    controller.io.write(1, 8191, b"z" * 512)
                    self.assertEqual(controller.io.read(1, 8191, 512), b"z" * 512)
                    self.good("cleanup", "--subsysnqn", NQN)
                    self.assertEqual(receive(controller.admin.sock, 1), b"")
                self.assertEqual(control.dump(), before)
            self.good("cleanup", "--subsysnqn", NQN)

    def test_a_host_that_another_subsystem_lets_in_stays(self):
        with self.serving_control():
            control = Control(self.folder / "control")
            control.run("mkdir", f"hosts/{HOST}")
            control.run("link", f"subsystems/{CONFIG['subsystems'][0]['nqn']}/allowed_hosts/{HOST}")
            self.set_up()
            self.good("cleanup", "--subsysnqn", NQN)
            self.assertEqual(control.list("hosts"), [f"{HOST}/"])

    def test_a_set_up_that_fails_says_why_and_leaves_nothing(self):
        arguments = ("setup", "--subsysnqn", NQN, "--subsys-uuid", UUID, "--hostnqn", HOST)
        with self.serving_control():
            control = Control(self.folder / "control")
            before = control.dump()
            path = f"subsystems/{NQN}/namespaces/1"
            done = self.run_program(*arguments, TARGET_CONTROL_DEVICE="floppy:")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{path}/device_path: device_path: 'floppy:' is not allowed: an absolute path", done.stderr)
            self.assertEqual(control.dump(), before)
            self.bad("$TARGET_CONTROL_PORT: wrong value \"9\"; allowed: 1", *arguments, TARGET_CONTROL_PORT="9")
            self.bad("--hostkey, --ctrlkey: target-sim has no authentication", *arguments, "--hostkey", "x")
            self.bad("--hostkey, --ctrlkey: target-sim has no authentication", *arguments, "--ctrkey", "x")
            self.assertEqual(control.dump(), before)

    def test_without_a_target_says_so(self):
        control = self.folder / "control"
        self.bad(f"$TARGET_SIM_CONTROL: {control}: No such file or directory", "config", "--show-traddr")
        self.bad("$TARGET_SIM_CONTROL is not set; allowed: the path that target-sim --control was given",
                 "config", "--show-traddr", TARGET_SIM_CONTROL="")


if __name__ == "__main__":
    import tap
    tap.main()
