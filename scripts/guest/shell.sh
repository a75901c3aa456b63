# SPDX-License-Identifier: GPL-2.0-or-later
connect_all
describe | lsctl put table.tsv
lsctl mark begin shell
cat /etc/motd 2>/dev/null
exit 0
