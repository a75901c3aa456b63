# SPDX-License-Identifier: GPL-2.0-or-later
connect_all
describe | lsctl put table.tsv
lsctl mark begin verify
verify_everywhere verify.json "$SMOKE_SIZE"
lsctl mark end verify
lsctl mark begin read
report_fio read.json rw=randread bs=4k size="$SMOKE_SIZE" iodepth=8
lsctl mark end read
lsctl exit 0
