# SPDX-License-Identifier: GPL-2.0-or-later
# Every nvme-cli call the test checks; each leaves its output under its own name.
call() {
    local name=$1
    shift
    "$@" >"/run/$name" 2>"/run/$name.err"
    local status=$?
    lsctl put "$name" <"/run/$name"
    printf '%s\t%s\t%s\n' "$name" "$status" "$(tr '\n' ' ' <"/run/$name.err")" >>/run/calls
}

call discover.json nvme discover -t tcp -a "$TRADDR" -s "$PORT" -o json
connect_all
describe | lsctl put table.tsv
call list-subsys.json nvme list-subsys -o json
for controller in /sys/class/nvme/nvme*; do
    controller=${controller##*/}
    cat "/sys/class/nvme/$controller/subsysnqn" >"/run/nqn"
    call "$controller.nqn" cat /run/nqn
    call "$controller.address" cat "/sys/class/nvme/$controller/address"
    call "$controller.id-ctrl.json" nvme id-ctrl "/dev/$controller" -o json
    call "$controller.smart-log.json" nvme smart-log "/dev/$controller" -o json
    call "$controller.error-log.json" nvme error-log "/dev/$controller" -o json
    call "$controller.ana-log.json" nvme ana-log "/dev/$controller" -o json
    call "$controller.show-regs.json" nvme show-regs "/dev/$controller" -o json
    call "$controller.list-ns.json" nvme list-ns "/dev/$controller" -o json
    call "$controller.fw-log.json" nvme fw-log "/dev/$controller" -o json
    call "$controller.effects" nvme effects-log "/dev/$controller" -o json
    call "$controller.supported" nvme supported-log-pages "/dev/$controller" -o json
done
for node in $(namespaces); do
    call "$node.id-ns.json" nvme id-ns "/dev/$node" -o json
    call "$node.ns-descs.json" nvme ns-descs "/dev/$node" -o json
    call "$node.nqn" cat "/sys/block/$node/device/subsysnqn"
done
dmesg | grep -iE 'warn|bug|error|fail|invalid|unsupported|disabl' >/run/dmesg.bad
call dmesg.bad cat /run/dmesg.bad
lsctl put calls.tsv </run/calls
lsctl exit 0
