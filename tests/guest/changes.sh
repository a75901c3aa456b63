# SPDX-License-Identifier: GPL-2.0-or-later
# The target changes while fio runs; the test makes each change at its mark and goes on when the
# guest has seen it. Variables: TRADDR PORT_A PORT_B NQN.

# $1: seconds, then a command that must come true.
until_true() {
    local tries=$(($1 * 20))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "not within the time: $*"
        sleep 0.05
    done
}

has() { [ -b "/dev/$1" ]; }
gone() { [ ! -e "/sys/block/$1" ]; }
is_size() { [ "$(cat "/sys/block/$1/size")" = "$2" ]; }
states() { cat /sys/class/nvme-subsystem/*/nvme*/nvme*c*n1/ana_state | sort | tr '\n' ' '; }
are_states() { [ "$(states)" = "$1 " ]; }
noticed() { grep -q "NVME_AEN=0x70f002" /run/uevents; }
lists() { nvme discover -d "/dev/$discovery" -o json | grep -q "$1"; }

# busybox calls the helper with each event of the kernel in its environment.
cat >/run/note <<'END'
#!/bin/bash
echo "$DEVNAME $NVME_EVENT NVME_AEN=$NVME_AEN" >>/run/uevents
END
chmod +x /run/note
: >/run/uevents
busybox uevent /run/note &

nvme discover -t tcp -a "$TRADDR" -s "$PORT_A" --persistent >/run/discover || fail "discover"
for controller in /sys/class/nvme/nvme*; do discovery=${controller##*/}; done
nvme connect -t tcp -a "$TRADDR" -s "$PORT_A" -n "$NQN" || fail "path A"
nvme connect -t tcp -a "$TRADDR" -s "$PORT_B" -n "$NQN" || fail "path B"
until_true 20 are_states "optimized optimized"
node=$(namespaces)
until_true 20 has "$node"
other=${node%n1}n2
dmesg -c >/dev/null

fio --name=load --filename="/dev/$node" --ioengine=io_uring --direct=1 --thread=1 --rw=randrw --bs=4k --size=4m \
    --time_based --runtime=300 --rate_iops=500 --iodepth=4 --verify=0 --output-format=json --output=/run/fio.json &
fio=$!

lsctl mark begin discovery
until_true 30 noticed
until_true 10 lists "$NQN:new"
lsctl mark begin ana
until_true 30 are_states "inaccessible optimized"
sleep 0.5
lsctl mark begin ana-back
until_true 30 are_states "optimized optimized"
lsctl mark begin add
until_true 30 has "$other"
is_size "$other" 32768 || fail "size of $other"
lsctl mark begin resize
until_true 30 is_size "$other" 65536
is_size "$node" 131072 || fail "size of $node"
lsctl mark begin remove
until_true 30 gone "$other"

kill -INT $fio
wait $fio
lsctl put fio.json </run/fio.json
lsctl put uevents </run/uevents
dmesg | lsctl put dmesg.txt
lsctl exit 0
