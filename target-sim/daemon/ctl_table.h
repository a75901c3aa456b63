/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer of `target-sim ctl stats` for people.
 * Not here: where it comes from (report.h). No standard.
 */
#ifndef LOCKSTEP_DAEMON_CTL_TABLE_H
#define LOCKSTEP_DAEMON_CTL_TABLE_H

#include <json-glib/json-glib.h>

/**
 * ctl_table_stats - what report_json() gives, as tables
 * @stats: from a peer: what is missing in it is shown as "-"
 *
 * Return: a new string, freed by g_free().
 */
char *ctl_table_stats(JsonObject *stats);

#endif
