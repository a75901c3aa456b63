# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts that go in every way leave nothing behind; tests/long does the same many times."""
import contextlib

import initiator
import soak
from harness import Case, wait_for


class HostsGo(Case):
    def test_200_hosts_come_and_go(self):
        with soak.soaking(self) as (daemon, control):
            soak.soak(daemon, control, soak.cycle, 200)

    def test_30_hosts_are_killed(self):
        with soak.soaking(self) as (daemon, control):
            soak.soak(daemon, control, soak.killed_host, 30)

    def test_silent_hosts_are_gone_after_their_keep_alive_time(self):
        with soak.soaking(self) as (daemon, control), contextlib.ExitStack() as stack:
            for _ in range(20):
                stack.enter_context(initiator.Queue(daemon.address(), daemon.ready["subsystems"][0]["nqn"],
                                                    kato_ms=1000))
            wait_for(lambda: soak.stats(control)["controllers"] == 0, "no controller is stuck")
            self.assertEqual(soak.stats(control)["keep_alive_expired"], 20)


if __name__ == "__main__":
    import tap
    tap.main()
