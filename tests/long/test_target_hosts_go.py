# SPDX-License-Identifier: GPL-2.0-or-later
"""10,000 hosts that come and go, 1,000 that are killed: no descriptor, no controller, no memory stays.

With target-sim as it is shipped: the sanitizers keep freed memory for a while.
"""
import os

os.environ["TARGET_SIM"] = os.path.join(os.environ["LOCKSTEP_BUILD"], "target-sim/target-sim")

import soak  # noqa: E402
from harness import Case  # noqa: E402

CYCLES, KILLS = 10000, 1000
GROWTH = 4 << 20  # bytes: 400 for a host would show


class HostsGo(Case):
    def test_10000_hosts_come_and_go(self):
        with soak.soaking(self) as (daemon, control):
            grown = soak.soak(daemon, control, soak.cycle, CYCLES)
            print(f"# memory grew by {grown} bytes")
            self.assertLess(grown, GROWTH)

    def test_1000_hosts_are_killed(self):
        with soak.soaking(self) as (daemon, control):
            grown = soak.soak(daemon, control, soak.killed_host, KILLS)
            print(f"# memory grew by {grown} bytes")
            self.assertLess(grown, GROWTH)


if __name__ == "__main__":
    import tap
    tap.main()
