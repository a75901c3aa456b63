# SPDX-License-Identifier: GPL-2.0-or-later
# Light work for a debugger to stop in: polled and interrupt-driven I/O in turn.
connect_all
describe | lsctl put table.tsv
lsctl mark begin workload
round=0
while [ $round -lt "$DEBUG_ROUNDS" ]; do
    fio_everywhere rw=randrw bs=4k io_size=1m size=1m iodepth=4 hipri=$((round % 2 == 0))
    round=$((round + 1))
done
lsctl mark end workload
lsctl exit 0
