# SPDX-License-Identifier: GPL-2.0-or-later
# What test_lockstep.py runs in the guest: the probe, and I/O over the kernel's own target.
#   PROBE IO      1 to do each
#   RESET         1 to reset the machine once
#   SOAK          seconds of guest time to go on with both
# What is put shows in the next life as a file to get: a link of the host's.
if [ "$RESET" = 1 ] && ! lsctl get again >/dev/null 2>&1; then
    lsctl put again </dev/null
    echo b >/proc/sysrq-trigger
    sleep 10
fi
if [ "$PROBE" = 1 ]; then
    lsctl get lockstep_probe >/tmp/lockstep_probe && chmod +x /tmp/lockstep_probe || fail "no probe"
    /tmp/lockstep_probe >/run/probe.txt || fail "the probe failed"
    lsctl put probe.txt </run/probe.txt
fi
if [ "$IO" = 1 ]; then
    connect_all
    report_fio fio.json rw=randrw bs=4k size=512k iodepth=4 norandommap=1 verify=0
fi
while [ "$(cut -d. -f1 /proc/uptime)" -lt "$SOAK" ]; do
    /tmp/lockstep_probe >/dev/null || fail "the probe failed"
    report_fio soak.json rw=randrw bs=4k size=512k iodepth=4 norandommap=1 verify=0
done
dmesg >"/dev/ttyS0"
dmesg | lsctl put dmesg.txt
lsctl exit 0
