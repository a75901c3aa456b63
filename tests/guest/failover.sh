# SPDX-License-Identifier: GPL-2.0-or-later
# fio writes and verifies while the test kills and restarts one of two targets.
nvme connect -t tcp -a "$TRADDR" -s "$PORT_A" -n "$NQN" --keep-alive-tmo=2 --reconnect-delay=1 --ctrl-loss-tmo=120 || fail "path A"
nvme connect -t tcp -a "$TRADDR" -s "$PORT_B" -n "$NQN" --keep-alive-tmo=2 --reconnect-delay=1 --ctrl-loss-tmo=120 || fail "path B"
while [ "$(namespaces | wc -l)" -lt 1 ] || [ "$(controllers_live)" -lt 2 ]; do sleep 0.05; done
node=$(namespaces)
while [ ! -b "/dev/$node" ]; do sleep 0.05; done
dmesg -c >/dev/null
lsctl mark begin io
fio --name=verify --filename="/dev/$node" --ioengine=io_uring --direct=1 --thread=1 --rw=randwrite --bs=4k \
    --size=8m --rate_iops=800 --loops=2 --iodepth=8 --verify=crc32c --verify_fatal=1 --output-format=json --output=/run/fio.json &
fio=$!
states=
while kill -0 $fio 2>/dev/null; do
    now=$(cat /sys/class/nvme/nvme*/state | tr '\n' ' ')
    if [ "$now" != "$states" ]; then
        states=$now
        echo "$now" >>/run/states
        [ "$(controllers_live)" = 1 ] && lsctl mark begin lost
    fi
    sleep 0.05
done
wait $fio
status=$?
# The killed target is back by now: its path must become live again.
for _ in $(seq 400); do
    [ "$(controllers_live)" = 2 ] && break
    sleep 0.05
done
cat /sys/class/nvme/nvme*/state | tr '\n' ' ' >>/run/states
dmesg | lsctl put dmesg.txt
lsctl put states.txt </run/states
lsctl put fio.json </run/fio.json
lsctl exit $status
