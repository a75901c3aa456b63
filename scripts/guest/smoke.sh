# SPDX-License-Identifier: GPL-2.0-or-later
connect_all
describe | lsctl put table.tsv
lsctl mark begin verify
fio_everywhere rw=randwrite bs=4k size="$SMOKE_SIZE" iodepth=16 verify=crc32c do_verify=1 verify_fatal=1
status=$?
lsctl mark end verify
lsctl put verify.json </run/fio.json
[ $status -eq 0 ] || fail "fio ended with status $status: $(tail -n 3 /run/fio.err)"
lsctl mark begin read
fio_everywhere rw=randread bs=4k size="$SMOKE_SIZE" iodepth=8
status=$?
lsctl mark end read
lsctl put read.json </run/fio.json
[ $status -eq 0 ] || fail "fio ended with status $status: $(tail -n 3 /run/fio.err)"
lsctl exit 0
