# SPDX-License-Identifier: GPL-2.0-or-later
# One kernel plays two hosts, each with a controller and a block device of its own
# (nvme_core.multipath=N), and both want the same namespace.
NQN=nqn.2026-01.org.lockstep:shared

# host LETTER: connects it and waits for its block device.
host() {
    local uuid="$1$1$1$1$1$1$1$1-0000-4000-8000-000000000001"
    nvme connect -t tcp -a "$TRADDR" -s "$PORT" -n "$NQN" --nr-io-queues=1 \
        --hostnqn="nqn.2014-08.org.nvmexpress:uuid:$uuid" --hostid="$uuid" || fail "host $1"
    until [ -b "/dev/$2" ]; do sleep 0.05; done
}

call() {
    local name=$1
    shift
    "$@" >"/run/$name" 2>"/run/$name.err"
    local status=$?
    lsctl put "$name" <"/run/$name"
    printf '%s\t%s\t%s\n' "$name" "$status" "$(tr '\n' ' ' <"/run/$name.err")" >>/run/calls
}

write_to() {
    dd if=/dev/zero of="/dev/$1" bs=4096 count=1 oflag=direct
}

read_from() {
    dd if="/dev/$1" of=/dev/null bs=4096 count=1 iflag=direct
}

host a nvme0n1
host b nvme1n1
call id-ns.json nvme id-ns /dev/nvme0n1 -o json
call a-register nvme resv-register /dev/nvme0n1 --nrkey=0xa --rrega=0
call b-register nvme resv-register /dev/nvme1n1 --nrkey=0xb --rrega=0
call a-acquire nvme resv-acquire /dev/nvme0n1 --crkey=0xa --rtype=1 --racqa=0
call a-write write_to nvme0n1
call b-write write_to nvme1n1
call b-read read_from nvme1n1
call b-acquire nvme resv-acquire /dev/nvme1n1 --crkey=0xb --rtype=1 --racqa=0
call report.json nvme resv-report /dev/nvme1n1 --eds -o json
call b-preempt nvme resv-acquire /dev/nvme1n1 --crkey=0xb --prkey=0xa --rtype=2 --racqa=2
call a-read read_from nvme0n1
call a-notice.json nvme resv-notif-log /dev/nvme0 -o json
call b-release nvme resv-release /dev/nvme1n1 --crkey=0xb --rtype=2 --rrela=0
call a-read-again read_from nvme0n1
call a-persist nvme get-feature /dev/nvme0n1 -n 1 -f 0x83 -o json
lsctl put calls.tsv </run/calls
lsctl exit 0
