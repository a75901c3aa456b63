/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all threads counted, as if one had. For crew_pause().
 * Not here: the counting (engine/stats.h), how it is shown (report.h, metrics.h). No standard.
 */
#ifndef LOCKSTEP_DAEMON_GATHER_H
#define LOCKSTEP_DAEMON_GATHER_H

#include "daemon/server.h"
#include "engine/stats.h"

/* As lst_target_each_conn() and so on, the first thread's first. */
void gather_connections(Server *server,
                        void (*fn)(void *opaque, const struct lst_conn_stats *stats),
                        void *opaque);
void gather_controllers(Server *server,
                        void (*fn)(void *opaque, const struct lst_ctrl_stats *stats),
                        void *opaque);
/* One call for each opcode. */
void gather_commands(Server *server,
                     void (*fn)(void *opaque, const struct lst_command_stats *stats),
                     void *opaque);
void gather_stats(Server *server, struct lst_target_stats *stats);

#endif
