# SPDX-License-Identifier: GPL-2.0-or-later
# What bench_clock.py runs in the guest: WORK is "BUSY SPINNING", or empty for the boot alone.
if [ -n "$WORK" ]; then
    lsctl get lockstep_probe >/tmp/lockstep_probe && chmod +x /tmp/lockstep_probe || fail "no probe"
    lsctl mark begin work
    # shellcheck disable=SC2086
    /tmp/lockstep_probe work $WORK || fail "the probe failed"
    lsctl mark end work
fi
lsctl exit 0
