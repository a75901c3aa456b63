# SPDX-License-Identifier: GPL-2.0-or-later
# Runs in the guest, after common.sh and before each script in lockstep mode, where nothing on
# the host may answer: the kernel's own target over the guest's loopback. Variables:
#   NVMET_SUBSYSTEMS NVMET_PATHS NVMET_NAMESPACES     how many, of each
#   NVMET_KIB                                         size of a namespace
#   TRADDR PORT                                       the ports, one for each path

nvmet_port() {
    mkdir "ports/$1"
    echo tcp >"ports/$1/addr_trtype"
    echo ipv4 >"ports/$1/addr_adrfam"
    echo "$TRADDR" >"ports/$1/addr_traddr"
    echo "$2" >"ports/$1/addr_trsvcid"
}

# $1: number of the subsystem; its disks follow those of the subsystems before it
nvmet_subsystem() {
    local name=subsystems/nqn.2026-01.org.lockstep:subsystem$1 space disk
    mkdir "$name"
    echo 1 >"$name/attr_allow_any_host"
    printf 'LS%04d' "$1" >"$name/attr_serial"
    for ((space = 1; space <= NVMET_NAMESPACES; space++)); do
        disk=$((($1 - 1) * NVMET_NAMESPACES + space - 1))
        mkdir "$name/namespaces/$space"
        echo "/dev/ram$disk" >"$name/namespaces/$space/device_path"
        # by default it is random
        printf '00000000-0000-4000-8000-%06d%06d' "$1" "$space" >"$name/namespaces/$space/device_uuid"
        printf '00000000-0000-0000-%04d-%06d%06d' 1 "$1" "$space" >"$name/namespaces/$space/device_nguid"
        echo 1 >"$name/namespaces/$space/enable"
    done
}

nvmet_start() {
    local number port path
    modprobe brd rd_nr=$((NVMET_SUBSYSTEMS * NVMET_NAMESPACES)) rd_size="$NVMET_KIB" max_part=0 &&
        modprobe -a nvmet nvmet_tcp || fail "the kernel's target did not load"
    cd /sys/kernel/config/nvmet || fail "the kernel's target has no configfs"
    path=0
    for port in $PORT; do
        nvmet_port $((path += 1)) "$port"
    done
    for ((number = 1; number <= NVMET_SUBSYSTEMS; number++)); do
        nvmet_subsystem "$number"
        for ((path = 1; path <= NVMET_PATHS; path++)); do
            ln -s "/sys/kernel/config/nvmet/subsystems/nqn.2026-01.org.lockstep:subsystem$number" \
                "ports/$path/subsystems/"
        done
    done
    cd /root || fail "/root is missing"
}

nvmet_start || fail "the kernel's target was not configured"
