# SPDX-License-Identifier: GPL-2.0-or-later
connect_all
describe | lsctl put table.tsv
lsctl mark begin demo
verify_everywhere fio.json "$DEMO_SIZE"
lsctl mark end demo
lsctl exit 0
