# SPDX-License-Identifier: GPL-2.0-or-later
connect_all
describe | lsctl put table.tsv
lsctl mark begin demo
fio_everywhere rw=randwrite bs=4k size="$DEMO_SIZE" iodepth=16 verify=crc32c do_verify=1 verify_fatal=1
status=$?
lsctl mark end demo
lsctl put fio.json </run/fio.json
[ $status -eq 0 ] || fail "fio ended with status $status: $(tail -n 3 /run/fio.err)"
lsctl exit 0
