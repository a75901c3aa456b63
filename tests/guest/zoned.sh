# SPDX-License-Identifier: GPL-2.0-or-later
# A zoned namespace of Linux: 16 zones of 4 MiB, of which 3 MiB can be written, in 4 KiB blocks.
NQN=nqn.2026-01.org.lockstep:zoned
ZONE=1024

call() {
    local name=$1
    shift
    "$@" >"/run/$name" 2>"/run/$name.err"
    local status=$?
    lsctl put "$name" <"/run/$name"
    printf '%s\t%s\t%s\n' "$name" "$status" "$(tr '\n' ' ' <"/run/$name.err")" >>/run/calls
}

# write_to BLOCK COUNT [FROM]: blocks of the pattern, through the block layer.
write_to() {
    dd if=/run/pattern of=/dev/$zoned bs=4096 seek="$1" count="$2" skip="${3:-0}" oflag=direct
}

same() {
    dd if=/dev/$zoned bs=4096 skip="$1" count="$2" iflag=direct | cmp -n $((4096 * $2)) - /run/pattern
}

nvme connect -t tcp -a "$TRADDR" -s "$PORT" -n "$NQN" --nr-io-queues=2 || fail connect
until [ -b /dev/nvme0n1 ] && [ -b /dev/nvme0n2 ]; do sleep 0.05; done
# Linux numbers them as it finds them, which may be in any order.
zoned=nvme0n1 other=nvme0n2
if [ "$(cat /sys/block/nvme0n1/nsid)" = 2 ]; then
    zoned=nvme0n2 other=nvme0n1
fi
head -c 1048576 /dev/urandom >/run/pattern
for file in zoned nr_zones chunk_sectors max_open_zones max_active_zones zone_append_max_bytes; do
    call "$file" cat "/sys/block/$zoned/queue/$file"
done
call other-zoned cat /sys/block/$other/queue/zoned
call id-ns nvme zns id-ns /dev/$zoned -o json
call id-ctrl nvme zns id-ctrl /dev/nvme0 -o json
call write write_to 0 64
call write-on write_to 64 64 64
call read same 0 128
call write-wrong write_to 5 1
call append nvme zns zone-append /dev/$zoned --zslba=$ZONE --data-size=8192 --data=/run/pattern
call append-read same $ZONE 2
call open nvme zns open-zone /dev/$zoned --start-lba=$((2 * ZONE))
call close nvme zns close-zone /dev/$zoned --start-lba=$((2 * ZONE))
call finish nvme zns finish-zone /dev/$zoned --start-lba=$((3 * ZONE))
call finish-full write_to $((3 * ZONE)) 1
call report nvme zns report-zones /dev/$zoned -o json
call reset nvme zns reset-zone /dev/$zoned --start-lba=0
call reset-all nvme zns reset-zone /dev/$zoned --select-all
call report-reset nvme zns report-zones /dev/$zoned -o json
call reset-read cmp -n 4096 /dev/$zoned /dev/zero
# The block layer keeps write pointers of its own and does not know of resets that pass it by: after
# one, nvme-cli writes where it has written, and it writes elsewhere.
call append-again nvme zns zone-append /dev/$zoned --zslba=0 --data-size=4096 --data=/run/pattern
call write-again write_to $((5 * ZONE)) 1
call copy nvme copy /dev/$other --sdlba=64 --slbs=0 --blocks=7 --format=0
call uncor nvme write-uncor /dev/$other --start-block=8 --block-count=0
call uncor-read nvme read /dev/$other --start-block=8 --block-count=0 --data-size=512
lsctl put calls.tsv </run/calls
lsctl exit 0
