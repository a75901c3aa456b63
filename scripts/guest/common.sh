# SPDX-License-Identifier: GPL-2.0-or-later
# Runs in the guest, before each script: what they share. The variables at the
# top of boot.sh come from testbed:
#   TRADDR PORT           where the target's discovery answers; PORT may name several
#   CONNECT               further options for nvme connect-all
#   CONTROLLERS SPACES    how many controllers and namespaces must appear

fail() {
    echo "lockstep: $*" >&2
    echo "$*" | lsctl put failure.txt
    lsctl exit 1
}

connect_all() {
    local tries=0 port
    for port in $PORT; do
        # shellcheck disable=SC2086
        nvme connect-all -t tcp -a "$TRADDR" -s "$port" $CONNECT >/run/connect.log 2>&1 ||
            fail "nvme connect-all: $(tail -n 3 /run/connect.log)"
    done
    while [ "$(controllers_live)" -lt "$CONTROLLERS" ] || [ "$(namespaces | wc -l)" -lt "$SPACES" ]; do
        tries=$((tries + 1))
        [ $tries -lt 400 ] ||
            fail "connected $(controllers_live) of $CONTROLLERS controllers, $(namespaces | wc -l) of $SPACES namespaces"
        sleep 0.025
    done
    for node in $(namespaces); do
        while [ ! -b "/dev/$node" ]; do sleep 0.01; done
    done
}

controllers_live() {
    local count=0 state
    for state in /sys/class/nvme/nvme*/state; do
        [ -e "$state" ] && [ "$(<"$state")" = live ] && count=$((count + 1))
    done
    echo $count
}

# The block devices a user sees: one for each namespace, whatever its paths.
namespaces() {
    local node
    for node in /sys/class/nvme-subsystem/nvme-subsys*/nvme*n*; do
        node=${node##*/}
        case $node in nvme*c*n* | 'nvme*n*') ;; nvme*n*) echo "$node" ;; esac
    done
}

# Tab-separated facts from sysfs, for testbed's table.
describe() {
    local subsystem nqn node path
    for subsystem in /sys/class/nvme-subsystem/nvme-subsys*; do
        nqn=$(<"$subsystem/subsysnqn")
        for node in "$subsystem"/nvme*; do
            case ${node##*/} in
            nvme*n*) printf 'namespace\t%s\t%s\t%s\t%s\n' "$nqn" "${node##*/}" \
                            "$(($(<"$node/size") * 512))" "$(<"$node/queue/logical_block_size")" ;;
            *) printf 'controller\t%s\t%s\t%s\t%s\t%s\n' "$nqn" "${node##*/}" "$(<"$node/address")" \
                      "$(<"$node/state")" "$(<"$node/queue_count")"
               for path in "$node"/nvme*c*n*; do
                   [ -e "$path" ] && printf 'path\t%s\t%s\t%s\n' "$nqn" "${path##*/}" "$(<"$path/ana_state")"
               done ;;
            esac
        done
    done
}

# One fio job for each namespace; the arguments are the jobs' common options.
fio_everywhere() {
    local node
    {
        echo '[global]'
        printf '%s\n' ioengine=io_uring direct=1 thread=1 group_reporting=0 "$@"
        for node in $(namespaces); do
            printf '[%s]\nfilename=/dev/%s\n' "$node" "$node"
        done
    } >/run/job.fio
    fio --output-format=json --output=/run/fio.json /run/job.fio 2>/run/fio.err
}

# Writes $2 bytes at random to each namespace and reads them back by checksum; fio's report goes to $1.
verify_everywhere() {
    report_fio "$1" rw=randwrite bs=4k size="$2" iodepth=16 verify=crc32c do_verify=1 verify_fatal=1
}

# fio with the given options everywhere; its report goes to $1, an error ends the run.
report_fio() {
    local report=$1 status
    shift
    fio_everywhere "$@"
    status=$?
    lsctl put "$report" </run/fio.json
    [ $status -eq 0 ] || fail "fio ended with status $status: $(tail -n 3 /run/fio.err)"
}
